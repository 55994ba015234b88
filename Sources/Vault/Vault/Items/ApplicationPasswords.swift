import Keys
import SecureMemory

/// The application passwords of items. Each is checked only after the rest of the item's access control is satisfied.
struct ApplicationPasswords {
  let store: Store
  /// The queue that runs scrypt on passwords.
  let scrypt: ScryptQueue

  /// How long evidence stays valid while the passwords of its request are checked, in nanoseconds.
  private static let checkingTime: UInt64 = 60_000_000_000

  /// The application passwords for these items, from the context or else from the person. Nil for an item without one.
  func given(for wanted: [WantedItem], _ context: Context) async throws(VaultError) -> [SecretBox?] {
    var given: [SecretBox?] = []
    for item in wanted {
      guard item.row.derivation != nil else {
        given.append(nil)
        continue
      }
      try store.requireNoDelay(.applicationPassword(item: item.row.id))
      var password = context.applicationPassword
      if password == nil { password = try await context.ask(.applicationPassword(item.record.name)) }
      guard let password else { throw .interactionNotAllowed }
      given.append(password)
    }
    return given
  }

  /// Asks for the application password of a new item.
  func new(for name: ItemName, _ context: Context) async throws(VaultError) -> SecretBox {
    guard let password = try await context.ask(.applicationPassword(name)) else { throw .interactionNotAllowed }
    guard !password.secret.isEmpty else { throw .invalidPasscode("the application password is empty") }
    return password
  }

  /// Adds the keys of the application passwords to the items. Call it only when the rest of their access control is
  /// satisfied, so that nobody can guess passwords or use scrypt without that. Each try is counted as wrong before it
  /// is made.
  func unlock(_ wanted: inout [WantedItem], with given: [SecretBox?], _ shownFactors: ShownFactors)
    async throws(VaultError)
  {
    let shown = store.clock.now()
    let turn = try await scrypt.turn(for: store.owner)
    for (index, password) in given.enumerated() {
      guard let password, let derivation = wanted[index].row.derivation else { continue }
      let count = Guessable.applicationPassword(item: wanted[index].row.id)
      try store.commit(charge: true) { change in try change.charge(count) }
      wanted[index].password = try await turn.stretch(password, .init(encoded: derivation), store.floor)
      let item = wanted[index]
      try store.read { moment in _ = try moment.release([item], shownFactors) }
      try store.commit(items: true) { change in change.authority[count] = Tries() }
    }
    guard store.clock.now() &- shown <= Self.checkingTime else {
      throw .busy("it took too long to check the application password")
    }
  }
}
