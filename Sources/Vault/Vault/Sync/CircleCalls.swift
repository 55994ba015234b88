import Keys
import Presence
import Primitives
import SecretModel
import VaultItems
import VaultStore
import VaultSync

/// The calls about the circle that ask a person. Each asks for a new proof and uses it up.
struct CircleCalls {
  let presence: OwnerPresence
  let sessionLock: SessionLock
  let nonces: JoinNonces

  private var store: Store { presence.passcodes.store }
  var items: SyncedItems { SyncedItems(store, nonces) }

  func begin(_ beginning: SyncBeginning, _ request: Request) async throws(VaultError) {
    switch beginning {
    case .new(let machine): try await begin(.new, machine, request)
    case .join(let machine, let records):
      try await begin(.asking(CircleRecord.chain(records)), machine, request)
    }
  }

  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ request: Request
  ) async throws(VaultError) {
    let rescue = try Circle.Rescue(CircleRecord.chain(records), recoveryKey: recoveryKey)
    try await begin(.rescuing(rescue), machine, request)
  }

  /// Asks for the passcode, or the recovery key where none is set, and with it learns the public key of the recovery key.
  private func begin(
    _ beginning: SyncedItems.Beginning, _ machine: String, _ request: Request
  ) async throws(VaultError) {
    let turn = try await presence.contexts.turn(of: request)
    await sessionLock.follow()
    if try presence.passcodes.isSet {
      let proven = try await presence.passcodes.prove(turn.context)
      let bytes = try store.read { snapshot in try snapshot.recoveryPublicKey(proven.key.bytes) }
      guard let key = AgePublicKey(bytes: bytes) else { throw .storeDamaged("the recovery key has no public key") }
      try items.begin(beginning, machine: machine, recovery: key) { snapshot in try proven.requireCurrent(snapshot) }
    } else {
      let proven = try await presence.passcodes.proveRecoveryKey(turn.context)
      let pair = try EncryptedFile.KeyPair(recovery: proven.key.bytes, salt: store.keys.databaseID)
      try items.begin(beginning, machine: machine, recovery: pair.publicKey) { snapshot in
        try proven.requireCurrent(snapshot)
      }
    }
  }

  func change(_ change: SyncMemberChange, _ request: Request) async throws(VaultError) {
    await sessionLock.follow()
    // The vault says what is asked for, and not the program: the person lets a machine read what is shared.
    let list = try items.newestList()
    guard let (reason, access) = try items.prompt(for: change) else {
      return try items.change(change, nil, after: list)
    }
    let turn = try await presence.contexts.turn(of: request)
    guard try presence.passcodes.isSet else {
      try await presence.passcodes.authorizeChange(turn.context)
      return try items.change(change, nil, after: list)
    }
    try await presence.freshly(in: turn.context, for: access, reason) { evidence throws(VaultError) in
      try items.change(change, evidence.current(), after: list)
      evidence.succeed()
    }
  }

  func resolve(_ resolution: SyncResolution, _ request: Request) async throws(VaultError) {
    await sessionLock.follow()
    switch resolution {
    case .drop(let id): try items.drop(kept: id)
    case .open:
      let turn = try await presence.contexts.turn(of: request)
      let reason = "open what other computers have shared under the passcode"
      try await presence.freshly(in: turn.context, for: AccessControl(.passcode), reason) {
        evidence throws(VaultError) in
        try items.open(evidence)
      }
    case .use(let id):
      let access = try items.access(ofKept: id)
      let turn = try await presence.contexts.turn(of: request)
      try await presence.freshly(in: turn.context, for: access, request.asking.reason) { evidence throws(VaultError) in
        try items.use(kept: id, evidence)
      }
    case .bind(let name):
      // Ask for the stricter of two rules. What satisfies it usually satisfies the other, too; otherwise `bind`
      // refuses.
      let accesses = try items.access(ofWaiting: name)
      let access =
        accesses.first { Requirement($0).mentions(.boundFinger) } ?? accesses.first { !Requirement($0).isOpen }
      let turn = try await presence.contexts.turn(of: request)
      try await presence.freshly(in: turn.context, for: access ?? accesses[0], request.asking.reason) {
        evidence throws(VaultError) in
        try items.bind(name, evidence)
      }
    }
  }
}

extension OwnerPresence {
  /// Asks for what an access control requires, whatever the context has seen before, and lets nothing later use it.
  fileprivate func freshly(
    in context: Context, for access: AccessControl, _ reason: String?,
    _ use: (consuming Evidence) throws(VaultError) -> Void
  ) async throws(VaultError) {
    context.useUp()
    defer { context.useUp() }
    try use(try await authorizer.evidence(for: access, reason: reason, context))
  }
}
