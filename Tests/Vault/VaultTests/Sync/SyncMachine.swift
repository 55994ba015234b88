import Keys
import Primitives
import SecretModel
import Synchronization
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

/// A repository in memory: the files of each state that it had.
final class MemoryRepository: Sendable {
  typealias Files = [String: [UInt8]]

  private let states: Mutex<[Files]>

  init() { states = Mutex([[:]]) }

  /// The same, with all states.
  init(copyOf repository: MemoryRepository) { states = Mutex(repository.states.withLock { $0 }) }

  var tip: Files { states.withLock { $0[$0.count - 1] } }
  var count: Int { states.withLock { $0.count } }
  subscript(_ place: Int) -> Files { states.withLock { $0[place] } }

  /// Replaces the tip if it still is the expected one.
  func push(_ files: Files, over expected: Files) -> Bool {
    states.withLock { states in
      guard states[states.count - 1] == expected else { return false }
      states.append(files)
      return true
    }
  }

  /// Puts an earlier state, or any other files, back.
  func put(_ files: Files) { states.withLock { $0.append(files) } }
}

extension Vault {
  /// Changes the machine's own entry in the list of members, as a class that is opened after the circle was made does.
  fileprivate func renewRecoveryKey() throws {
    try SyncedItems(presence.passcodes.store, nonces).use(recoveryKey: SharedSecret(RecoveryKey.generate().text()))
  }
}

/// A store of a machine that is in a circle, or comes into one, with an owner who touches and types.
final class SyncMachine: Sendable {
  let name: String
  let store: ScratchStore
  let vault: Vault
  let session: VaultSession
  /// The state of the repository that the vault has taken last.
  private let received = Mutex<MemoryRepository.Files>([:])

  /// The passcode that its owner types; nil for a store without one, whose owner types the recovery key.
  private let passcode: Mutex<String?>
  /// What is open of the store's classes.
  let classKeys: ClassKeys
  let sessions = Sessions()

  init(
    _ name: String, reader: any FingerprintReader = ScriptedReader(), classKeys: ClassKeys = ClassKeys(),
    passcode: String? = ScratchStore.passcode
  ) async throws {
    (self.name, self.classKeys) = (name, classKeys)
    self.passcode = Mutex(passcode)
    // What is written here is tested by others, and these tests write thousands of times.
    store = try await ScratchStore(passcode: passcode, isInMemory: true)
    vault = try store.open(reader: reader, gate: sessions, classKeys: classKeys)
    session = VaultSession(of: vault)
  }

  /// The same machine with a copy of its store, which is closed.
  fileprivate init(copyOf machine: SyncMachine) throws {
    (name, classKeys) = (machine.name, ClassKeys())
    passcode = Mutex(machine.passcode.withLock { $0 })
    store = try ScratchStore(copyOf: machine.store)
    vault = try store.open(reader: ScriptedReader(), gate: sessions, classKeys: classKeys)
    session = VaultSession(of: vault)
    let files = machine.received.withLock { $0 }
    received.withLock { $0 = files }
  }

  var status: SyncStatus { get async throws { try await session.sync.status() } }

  /// Answers with the passcode, whatever is asked.
  private func person() -> Person {
    let passcode = passcode.withLock { $0 }
    return Person(
      passcodes: passcode.map { [String](repeating: $0, count: 3) } ?? [],
      recoveryKey: passcode == nil ? store.recoveryKey : nil)
  }

  func changePasscode(to new: String) async throws {
    let old = passcode.withLock { $0 ?? "" }
    let person = Person(passcodes: [old], newPasscode: new)
    _ = try await person.with(vault) { try await self.vault.changePasscode(in: $0) }
    passcode.withLock { $0 = new }
  }

  func asking<T: Sendable>(_ body: @Sendable (Asking) async throws -> T) async throws -> T {
    var options = ContextOptions(timeout: .seconds(20))
    options.preferPasscode = true
    return try await person().with(session, options) { try await body(Asking(in: $0)) }
  }

  func enroll(_ finger: Finger = .rightIndex) async throws {
    _ = try await asking { try await self.session.enroll(finger, $0) }
  }

  func begin() async throws {
    try await asking { try await self.session.sync.begin(.new(machine: self.name), $0) }
  }

  /// Asks to be let into the circle of a repository.
  func ask(_ repository: MemoryRepository) async throws {
    let tip = repository.tip
    let records = tip.filter { $0.key.hasPrefix("circle/") }.map { SyncFile($0.key, $0.value) }
    try await asking {
      try await self.session.sync.begin(.join(machine: self.name, records: records), $0)
    }
    try await sync(repository)
  }

  /// - Parameter beforePublishing: what happens between taking what the repository has and publishing.
  func recover(
    _ repository: MemoryRepository, recoveryKey: String, beforePublishing: @Sendable () async throws -> Void = {}
  ) async throws {
    let records = repository.tip.filter { $0.key.hasPrefix("circle/") }.map { SyncFile($0.key, $0.value) }
    try await asking {
      try await self.session.sync.recover(
        machine: self.name, records: records, recoveryKey: SecretBytes(text: recoveryKey), $0)
    }
    _ = try await receive(repository.tip)
    try await beforePublishing()
    try await sync(repository)
  }

  /// The identifier of this machine in its circle.
  var id: MemberID { get async throws { try await vault.circle.id } }

  func answer(_ candidate: SyncMachine) async throws {
    let id = try await candidate.id
    try await asking { try await self.session.sync.change(.answer(id), $0) }
  }

  /// Says that the words are the same as on the machine that has answered.
  func agree() async throws { try await asking { try await self.session.sync.change(.agree, $0) } }

  /// Lets a machine in that has asked: both show the same words, and the owners of both say so.
  func approve(_ candidate: SyncMachine, in repository: MemoryRepository, replacing old: SyncMachine? = nil)
    async throws
  {
    try await sync(repository)
    try await answer(candidate)
    for machine in [self, candidate, self] { try await machine.sync(repository) }
    let id = try await candidate.id
    guard let shown = try await status.candidates.first(where: { $0.id == id }), !shown.words.isEmpty,
      try await candidate.status.words == shown.words
    else { throw VaultError.internalError("the words differ") }
    try await candidate.agree()
    for machine in [candidate, self] { try await machine.sync(repository) }
    try await approve(id, replacing: old)
  }

  func approve(_ id: MemberID, replacing old: SyncMachine? = nil) async throws {
    let replaced = try await old?.id
    try await asking { try await self.session.sync.change(.approve(id, replacing: replaced), $0) }
  }

  /// Changes this machine's own entry in the list of members.
  func renewRecoveryKey() async throws {
    try await vault.renewRecoveryKey()
  }

  /// Confirms what other members have changed.
  func confirm() async throws { try await asking { try await self.session.sync.change(.confirm, $0) } }

  func remove(_ other: SyncMachine) async throws {
    let id = try await status.members.first { $0.name == other.name }?.id
    guard let id else { throw VaultError.itemGone }
    try await asking { try await self.session.sync.change(.remove(id), $0) }
  }

  func leave() async throws { try await asking { try await self.session.sync.change(.leave, $0) } }

  func resolve(_ resolution: SyncResolution) async throws {
    try await asking { try await self.session.sync.resolve(resolution, $0) }
  }

  /// Takes what the repository has, and publishes what it lacks.
  @discardableResult
  func sync(_ repository: MemoryRepository, puttingBack: Bool = false) async throws -> SyncReceipt {
    for _ in 1...20 {
      let tip = repository.tip
      let receipt = try await receive(tip)
      if receipt.wentBack, !puttingBack { return receipt }
      var (new, after) = (tip, String?.none)
      repeat {
        let batch = try await session.sync.files(after: after, puttingBack: puttingBack)
        for file in batch.files { new[file.path] = file.contents }
        after = batch.next
      } while after != nil
      guard new != tip else { return receipt }
      guard repository.push(new, over: tip) else { continue }
      let published = try await receive(new)
      guard published.refused.isEmpty else { throw VaultError.internalError("\(published.refused)") }
      return receipt
    }
    throw VaultError.timedOut
  }

  /// Gives the vault all files that differ from those that it has taken last.
  func receive(_ tip: MemoryRepository.Files) async throws -> SyncReceipt {
    let before = received.withLock { $0 }
    var changed = tip.filter { before[$0.key] != $0.value }.map { SyncFile($0.key, $0.value) }
    changed += before.keys.filter { tip[$0] == nil }.map { SyncFile($0, nil) }
    changed.sort { ($0.path.hasPrefix("circle/") ? 0 : 1, $0.path) < ($1.path.hasPrefix("circle/") ? 0 : 1, $1.path) }
    let receipt = changed.isEmpty ? SyncReceipt() : try await session.sync.receive(changed, isLast: true)
    received.withLock { $0 = tip }
    return receipt
  }

  /// Forgets what was taken, as a program does that was killed before it noted it.
  func forget() { received.withLock { $0 = [:] } }

  /// Syncs with all files, not only with those that have changed.
  func forgetAndSync(_ repository: MemoryRepository) async throws {
    forget()
    try await sync(repository)
  }

  // MARK: Items

  private func item(_ name: String, _ constraint: AccessControl.Constraint) throws -> NewItem {
    var item = NewItem(named: try ItemName(parsing: name), access: AccessControl(constraint))
    item.attributes[.synchronizable] = .number(1)
    return item
  }

  func set(_ name: String, _ secret: String, _ constraint: AccessControl.Constraint = .none) async throws {
    let item = try item(name, constraint)
    _ = try await asking {
      try await self.session.add(item, secret: SecretBytes(text: secret), replacing: true, $0)
    }
  }

  private func search(_ name: String) throws -> ItemSearch { ItemSearch(named: try ItemName(parsing: name)) }

  /// The secret; nil where there is no such item.
  func get(_ name: String) async throws -> String? {
    let search = try search(name)
    do {
      return try await asking { asking in try await self.session.secrets(.search(search), asking).first?.text }
    } catch VaultError.itemGone {
      return nil
    }
  }

  func delete(_ name: String) async throws { _ = try await session.delete(.search(search(name))) }

  /// All synchronizable items by name. Only for items that require nothing.
  var items: [String: String] {
    get async throws {
      let found = try await asking { asking in
        try await self.session.secrets(.search(ItemSearch(groups: .all, synchronizable: .yes)), asking).map {
          ($0.item.title ?? "", $0.text)
        }
      }
      return Dictionary(uniqueKeysWithValues: found)
    }
  }
}

extension MemoryRepository {
  /// Lets a machine into the circle, which then has what the others have.
  func admit(_ machine: SyncMachine, by member: SyncMachine) async throws {
    try await machine.ask(self)
    try await member.approve(machine, in: self)
    for one in [member, machine, member] { try await one.sync(self) }
  }

  /// New machines that are all members of one circle in this repository.
  @discardableResult
  func circle(_ names: String...) async throws -> [SyncMachine] {
    var machines: [SyncMachine] = []
    for name in names {
      let machine = try await SyncMachine(name)
      if let first = machines.first {
        try await admit(machine, by: first)
      } else {
        try await machine.begin()
      }
      try await machine.sync(self)
      machines.append(machine)
      for other in machines {
        try await other.sync(self)
        if try await !other.status.unconfirmed.isEmpty { try await other.confirm() }
      }
    }
    for machine in machines { try await machine.sync(self) }
    return machines
  }
}

/// Circles of three machines, with which schedules begin: each with copies of one.
///
/// There are several. The order of the machines' identifiers, which are random, decides between concurrent versions.
struct ReadyCircles {
  private var circles: [(machines: [SyncMachine], repository: MemoryRepository)] = []

  init() async throws {
    for _ in 1...Campaign.count(short: 2, long: 12) {
      let repository = MemoryRepository()
      var machines: [(id: MemberID, machine: SyncMachine)] = []
      for machine in try await repository.circle("desk", "lap", "attic") {
        machines.append((try await machine.id, machine))
      }
      machines.sort { $0.id < $1.id }
      for (_, machine) in machines { await machine.vault.close() }
      circles.append((machines.map { $0.machine }, repository))
    }
  }

  /// The circle of a schedule, with its machines in a random order.
  func copy(
    _ number: Int, _ random: inout Campaign.Generator
  ) throws -> (machines: [SyncMachine], repository: MemoryRepository) {
    let (machines, repository) = circles[number % circles.count]
    // They are in the order of their identifiers, so that a seed repeats who wins.
    let copies = try machines.shuffled(using: &random).map { try SyncMachine(copyOf: $0) }
    return (copies, MemoryRepository(copyOf: repository))
  }
}
