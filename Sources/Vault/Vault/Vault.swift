import Executors
import Fingerprint
import GRDB
import Glibc
package import Keys
import SecureMemory

/// The vault: items, who may read them, and the fingers that say so. Clients reach it through `VaultService` alone, over a
/// bus or in this process.
package actor Vault {
  /// The longest secret, in bytes.
  package static let secretLimit = NewItem.secretLimit

  private let executor = VaultExecutor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The user whose items and fingers these are.
  package nonisolated let owner: UInt32
  let store: Store
  /// Where passcodes and passwords become keys.
  let scrypt: ScryptQueue
  /// Gives the reader to one request at a time.
  package nonisolated let desk: ReaderDesk
  /// What the user's login sessions allow.
  let gate: any SessionGate
  let readers: ReaderAccess
  let sets: EnrolmentSets
  let fprintd: FprintdSets
  let enrolment: FingerEnrolment
  let authenticator: Authenticator
  var contexts: [ContextHandle: Context] = [:]
  /// Who holds the vault itself, as a client of it; and whose contexts those are that the vault opens for itself.
  let itself: Client
  /// The emptying of the log that deletions have asked for.
  var forgetting: Task<Void, Never>?

  /// Opens the store of `owner`. Nothing starts a reader process before a finger is needed, and nobody is asked for one
  /// whose login session `gate` refuses. Vaults in one process share one `scrypt`, and may share a `desk`. `classKeys`
  /// outlives the vault where its maker keeps it: what was unlocked stays so. `quota` is the most bytes that the store may
  /// have; nil: as many as the disk takes. `clock`, `touchClock` and `floor` are for tests.
  package init(
    at path: String, desk: ReaderDesk, owner: UInt32 = geteuid(), clock: BootClock = .system,
    touchClock: @escaping @Sendable () -> UInt64 = ScanClock.now, floor: Scrypt.Floor = .standard,
    scrypt: ScryptQueue = ScryptQueue(), gate: any SessionGate = NoSessionGate(), arming: ArmingPolicy = .atOnce,
    classKeys: ClassKeys = ClassKeys(), quota: Int? = nil
  ) throws(VaultError) {
    let directory = try StoreDirectory.open(at: path)
    let deviceKey = try DeviceKey.read(in: directory)
    let database = try StoreDatabase(at: directory.database, quota: quota)
    let databaseID = try database.identity()
    guard let slot = try database.rawSlot(.device) else { throw .deviceKeyMissing }
    let root: SecretBytes
    do {
      root = try slot.unwrap(under: deviceKey, databaseID: databaseID)
    } catch .authenticationFailed {
      throw .deviceKeyMissing
    } catch {
      throw VaultError(keys: error)
    }
    store = Store(
      directory: directory, database: database, keys: try RootKeys(root: root, databaseID: databaseID), owner: owner,
      clock: clock, floor: floor, classKeys: classKeys)
    self.owner = owner
    itself = Client(Caller(user: owner))
    self.desk = desk
    readers = ReaderAccess(store: store, desk: desk, gate: gate, arming: arming)
    sets = EnrolmentSets(store: store)
    fprintd = FprintdSets(readers: readers, sets: sets)
    enrolment = FingerEnrolment(readers: readers, sets: sets, fprintd: fprintd)
    authenticator = Authenticator(readers: readers, sets: sets, fprintd: fprintd, touchClock: touchClock)
    self.scrypt = scrypt
    self.gate = gate
  }

  /// Gets the cryptography ready, for a store that will be opened soon.
  package static func prepare() { Algorithms.prepare() }

  /// Ends every context and closes the database, which empties its log. No call works afterwards.
  package func close() async {
    endContexts()
    // Whoever ends does not wait for changes that might still come.
    forgetting?.cancel()
    await forgetting?.value
    store.database.close()
  }

  /// Ends every context with `systemCancelled`.
  package func endContexts() {
    for context in contexts.values { end(context, .systemCancelled) }
    contexts = [:]
  }

  package func status() async throws(VaultError) -> VaultStatus {
    await followSessions()
    return try currentStatus()
  }

  func currentStatus() throws(VaultError) -> VaultStatus {
    let store = store
    return try store.read { moment in
      return VaultStatus(
        directory: store.directory.path, tier: .keyFile,
        passcodeSet: try moment.slot(.passcode) != nil,
        failures: Int(moment.authority.lockout.failures), lockedOut: moment.authority.lockout.lockedOut,
        passcodeDelay: moment.authority.lockout.passcode.remainingDelay(store.clock),
        restore: moment.authority.restored ? try moment.acceptance() : nil,
        items: try Int.fetchOne(moment.db, sql: "SELECT count(*) FROM item WHERE owner = ?", arguments: [store.owner])
          ?? 0,
        sets: try moment.setStatuses(), damagedSets: try moment.damagedSets(),
        adapter: moment.authority.adapter, firstUnlock: try moment.firstUnlock(),
        openClasses: try Accessibility.allCases.filter { accessibility in
          try moment.slot(.classKey(accessibility)) != nil && moment.closed(accessibility) == nil
        },
        passcodeDeadline: store.classKeys.expire(store.clock).map { Int($0 / 1_000_000_000) })
    }
  }

  /// What is wrong with the store as a whole; empty when nothing is.
  package func integrityProblems() throws(VaultError) -> [VaultError] {
    var problems = try store.database.integrityProblems()
    let damaged = try store.read { moment in try moment.damagedItems() }
    if damaged > 0 { problems.append("\(damaged) item rows do not verify") }
    let status = try currentStatus()
    if status.damagedSets > 0 {
      problems.append("\(status.damagedSets) enrolment sets do not verify: 'whorl unenroll --all' drops them")
    }
    for set in try sets.verified() where try sets.prints(of: set).count < set.set.enrolments.count {
      problems.append("fingerprint templates do not verify: enrol those fingers again")
    }
    return problems.map { .storeDamaged($0) } + restoreProblem(status)
  }

  private func restoreProblem(_ status: VaultStatus) -> [VaultError] {
    switch status.restore {
    case nil: []
    case .passcode, .recoveryKey: [.restoreDetected]
    case .recoveryKeyAndNewPasscode: [.recoveryKeyRequired]
    }
  }
}

extension Moment {
  func setStatuses() throws -> [SetStatus] {
    let counts = try Row.fetchAll(
      db, sql: "SELECT generation, count(*) FROM item WHERE generation IS NOT NULL AND dead = 0 GROUP BY generation")
    let bound = Dictionary(counts.map { ($0.bytes(0), $0[1] as Int) }, uniquingKeysWith: +)
    return try sets().map { stored in
      SetStatus(
        reader: stored.set.reader, nature: stored.set.nature, fingers: stored.set.enrolledFingers,
        digest: stored.digest, boundItems: bound[stored.set.generation] ?? 0)
    }
  }
}

extension EnrolmentSet {
  var enrolledFingers: [EnrolledFinger] {
    enrolments.map { EnrolledFinger(finger: $0.finger, onChip: $0.onChip, enrolled: $0.enrolled) }
  }
}

extension StoreDatabase {
  /// The id that ties every box to this database.
  func identity() throws(VaultError) -> [UInt8] {
    do {
      guard let row = try queue.read({ db in try Row.fetchOne(db, sql: "SELECT database_id FROM store") }) else {
        throw VaultError.storeDamaged("it has no identity")
      }
      return row.bytes(0)
    } catch {
      throw VaultError(storage: error)
    }
  }

  /// A slot before there are keys to check it with: for finding the root key itself.
  func rawSlot(_ name: Slot.Name) throws(VaultError) -> Slot? {
    do {
      return try queue.read { db in
        try Row.fetchOne(db, sql: "SELECT parameters, box FROM slot WHERE name = ?", arguments: [name.text])
          .map { Slot(name: name, parameters: $0.bytes(0), box: $0.bytes(1)) }
      }
    } catch {
      throw VaultError(storage: error)
    }
  }
}
