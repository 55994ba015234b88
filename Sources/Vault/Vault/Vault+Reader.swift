import Executors
package import Fingerprint
import GRDB
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// Claims the reader for one request. One request at a time has it, of all programs and stores of the user: the next
  /// one waits here, so that no scan can be credited to the other. `body` releases what it releases while the reader is
  /// still open: the answer does not wait for the reader to be closed.
  ///
  /// - Parameter purpose: what a touch is asked for, where the caller's session allows that; nil where none is.
  func withReader<T: Sendable>(
    for purpose: TouchRequest.Purpose?, _ context: Context, unlessLockedOut: Bool = false,
    _ body: (ReaderLease) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    if purpose != nil { try await requireAllowed(context) }
    let applicant = ReaderApplicant(caller: context.client.caller, purpose: purpose)
    let claim = try await turn(context) { [desk, lock = store.directory.scanLock] told in
      try await desk.claim(for: applicant, storeLock: lock, told: told)
    }
    do throws(VaultError) {
      if unlessLockedOut {
        // Only now is it certain how the others' scans have ended.
        let lockedOut = try store.read { moment in moment.authority.lockout.lockedOut }
        guard !lockedOut else { throw .biometryLockout }
      }
      let wanted = try await wantedReader(claim, context)
      try await turn(context) { told in try await claim.lock(wanted) { told(.program(nil, items: [])) } }
      let value = try await body(try await answer(context) { try await claim.open(wanted) })
      claim.end(.succeeded)
      return value
    } catch {
      let isCancelled = if case .cancelled = error { !context.fallbackChosen } else { false }
      claim.end(isCancelled ? .cancelled : .failed)
      throw error
    }
  }

  /// Waits for the requests ahead of this one, which the listener is told of.
  private func turn<T: Sendable>(
    _ context: Context, _ wait: @escaping @Sendable (@escaping @Sendable (ReaderUse) -> Void) async throws -> T
  ) async throws(VaultError) -> T {
    do throws(VaultError) {
      return try await answer(context) { [events = context.events] in
        try await wait { use in events.yield(.notice(.readerInUse(use))) }
      }
    } catch .timedOut {
      throw .busy("another program is waiting for a finger")
    }
  }

  private func wantedReader(_ claim: ReaderClaim, _ context: Context) async throws(VaultError) -> ReaderDescription {
    if let opened = claim.opened { return opened.description }
    return try choose(from: try await answer(context) { [desk] in try await desk.reader.readers() })
  }

  /// The answer to one question, in the vault's words where it fails. A cancel, a chosen passcode and the timeout end
  /// the waiting.
  func answer<T: Sendable>(
    _ context: Context, activity: Activity? = nil, _ question: @escaping @Sendable () async throws -> T
  ) async throws(VaultError) -> T {
    switch await ended(Task(executorPreference: BackgroundThread.shared, operation: question), context, activity) {
    case .success(let value): return value
    case .failure(let error): throw failure(error, context)
    }
  }

  /// The answer to a question for which the reader waits for a finger: as ``answer(_:activity:_:)``, where the state of the
  /// caller's login session allows it, and for as long.
  func touchAnswer<T: Sendable>(
    _ context: Context, activity: Activity? = nil, _ question: @escaping @Sendable () async throws -> T
  ) async throws(VaultError) -> T {
    try await requireAllowed(context)
    let action = Task(executorPreference: BackgroundThread.shared, operation: question)
    switch await whileAllowed(action, context, activity) {
    case .success(let value): return value
    case .failure(let error): throw failure(error, context)
    }
  }

  /// What a failure of the reader means to the request.
  func failure(_ error: any Error, _ context: Context) -> VaultError {
    switch error as? ReaderError {
    case .cancelled: return .cancelled
    case .duplicate: return .fingerDuplicate(nil)
    // What others have changed is taken over, and told, at the next request.
    case .printsChanged: return .setChanged
    case .some(let error): return .reader(error)
    case .none: return error as? VaultError ?? .internalError("\(type(of: error))")
    }
  }

  /// The reader asked for by id or name, else the first that has fingers in this store.
  ///
  /// A reader that both fprintd and libfprint drive is two readers. Where nobody has named one, it is one of the kind
  /// that this store has recorded.
  package func choose(from readers: [ReaderDescription]) throws(VaultError) -> ReaderDescription {
    if case .named(let device) = desk.preference {
      guard let named = readers.first(where: { $0.id == device || $0.name == device }) else { throw .reader(.absent) }
      return named
    }
    let (sets, adapter) = try store.read { moment in (try moment.enrolledSets().map(\.set), moment.authority.adapter) }
    let recorded = desk.preference == .recorded ? adapter : nil
    let eligible = readers.filter { recorded == nil || $0.identity.adapter == recorded }
    let enrolled = eligible.first { reader in
      sets.contains { $0.reader == reader.identity && $0.nature == reader.nature }
    }
    guard let chosen = enrolled ?? eligible.first else { throw .reader(.absent) }
    return chosen
  }

  /// The reader that is attached now, without opening it.
  func attachedReader() async throws(VaultError) -> ReaderDescription {
    if let held = await desk.heldReader { return held }
    do {
      return try choose(from: try await desk.reader.readers())
    } catch let error as VaultError {
      throw error
    } catch {
      throw .reader(error as? ReaderError ?? .absent)
    }
  }

  /// The readers attached, and the one that this store would use.
  package func readers() async throws(VaultError) -> ReaderList {
    let attached: [ReaderDescription]
    do {
      attached = try await desk.reader.readers()
    } catch {
      return ReaderList(readers: [], chosen: nil, problem: .reader(error))
    }
    do throws(VaultError) {
      return ReaderList(readers: attached, chosen: try choose(from: attached), problem: nil)
    } catch {
      return ReaderList(readers: attached, chosen: nil, problem: error)
    }
  }

  /// The set of the reader that is open; refuses where no finger is enrolled on it, or none that counts.
  func enrolled(on reader: ReaderDescription) throws(VaultError) -> StoredSet {
    let store = store
    let set = try store.read { moment in try moment.set(of: reader.identity, reader.nature) }
    guard let set, !set.set.enrolments.isEmpty else { throw .notEnrolled }
    try set.set.requireCounts()
    return set
  }

  /// The sets of this user that verify.
  func verifiedSets() throws(VaultError) -> [StoredSet] {
    let store = store
    return try store.read { moment in try moment.sets() }
  }

  /// The prints to look for, the most recently matched first, without those the chip no longer holds.
  ///
  /// A finger that is gone from the chip's own list was removed elsewhere, or the reader misreports. Either way what is
  /// bound to the set is closed at once, and opens again when the list holds every print. Nothing is destroyed by what a
  /// reader says: that takes the passcode, with which the finger is taken out of the set (`unenroll`).
  func gallery(of stored: StoredSet, on lease: ReaderLease, readingBound: Bool, _ context: Context)
    async throws(VaultError) -> [EnrolledPrint]
  {
    let prints = try prints(of: stored)
    guard !prints.isEmpty else { throw .storeDamaged("no fingerprint template verifies") }
    guard lease.description.features.contains(.storageList), stored.set.enrolments.contains(where: \.onChip),
      lease.checkedSet != stored.digest
    else { return prints }
    let chip = try await chipList(lease, knowing: prints, context)
    let present = prints.filter { chip.present.contains($0.id) }
    guard present.count < prints.count else {
      lease.checkedSet = stored.digest
      return prints
    }
    let gone = stored.set.enrolments.filter { !chip.present.contains($0.id) }.map(\.finger)
    guard !readingBound, !present.isEmpty else { throw .printsGone(gone) }
    context.events.yield(.notice(.goneFromChip(gone)))
    return present
  }

  func chipList(_ lease: ReaderLease, knowing prints: [EnrolledPrint], _ context: Context)
    async throws(VaultError) -> ChipList
  {
    try await answer(context) { try await lease.ask { try await $0.storedPrints(knowing: prints) } }
  }

  /// The templates of a set, each checked against the digest its record holds; one that does not verify is left out,
  /// and its finger has to be enrolled again.
  func prints(of stored: StoredSet) throws(VaultError) -> [EnrolledPrint] {
    let store = store
    return try store.read { moment in
      let key = try store.keys.derive("templates")
      let rows = try Row.fetchAll(
        moment.db, sql: "SELECT id, template FROM enrolment WHERE reader = ? ORDER BY last_match DESC, rowid",
        arguments: [stored.index.data])
      return rows.compactMap { row -> EnrolledPrint? in
        let id = EnrolmentID(bytes: row.bytes(0))
        guard let enrolment = stored.set.enrolments.first(where: { $0.id == id }),
          let bytes = try? openRecord(row.bytes(1), key: key, aad: store.templateAAD(id, stored.index)),
          Digest.sha256(bytes) == enrolment.templateDigest
        else { return nil }
        return EnrolledPrint(id: id, template: Template(bytes: bytes))
      }
    }
  }
}

extension Store {
  func templateAAD(_ id: EnrolmentID, _ reader: [UInt8]) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, keys.databaseID)
    aad.append(tag: 3, "enrolment.template")
    aad.append(tag: 4, UInt64(owner))
    aad.append(tag: 5, id.bytes)
    aad.append(tag: 6, reader)
    return aad.bytes
  }
}
