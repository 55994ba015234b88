import Keys
import SecureMemory

extension Vault {
  /// Nanoseconds since boot for which what a gate has shown may wait until the passwords of its request are checked.
  private static let checkingTime: UInt64 = 60_000_000_000

  /// The application passwords of these items, as they are given: the context's, else what the person answers. Nil for an
  /// item without one.
  func applicationPasswords(of wanted: [WantedItem], _ context: Context) async throws(VaultError) -> [SecretBox?] {
    var given: [SecretBox?] = []
    for item in wanted {
      guard item.row.derivation != nil else {
        given.append(nil)
        continue
      }
      try requireNoDelay(.applicationPassword(item: item.row.id))
      var password = context.applicationPassword
      if password == nil { password = try await ask(.applicationPassword(item.record.name), context) }
      guard let password else { throw .interactionNotAllowed }
      given.append(password)
    }
    return given
  }

  /// The items with the keys of their application passwords, once their access control is satisfied: so that nobody makes
  /// the vault stretch passwords, or guesses at one, without it. Each is counted as wrong before it is tried.
  func unlocked(_ wanted: [WantedItem], with given: [SecretBox?], _ evidence: Evidence) async throws(VaultError)
    -> [WantedItem]
  {
    let store = store
    let shown = store.clock.now()
    let turn = try await scrypt.turn(for: store.owner)
    var items = wanted
    for (index, password) in given.enumerated() {
      guard let password, let derivation = items[index].row.derivation else { continue }
      let count = Guessable.applicationPassword(item: items[index].row.id)
      try store.commit(charge: true) { change in try change.charge(count) }
      items[index].password = try await turn.stretch(password, .init(encoded: derivation), store.floor)
      let item = items[index]
      try store.read { moment in _ = try moment.release([item], evidence) }
      try store.commit(items: true) { change in change.authority[count] = Tries() }
    }
    guard store.clock.now() &- shown <= Self.checkingTime else { throw .timedOut }
    return items
  }
}
