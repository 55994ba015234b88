import Keys
import Presence
import SecureMemory
import VaultStore

/// Checks the application passwords of items, after the rest of their access control is satisfied. Before that, nobody
/// can guess passwords or make the vault run scrypt.
struct ApplicationPasswords {
  let store: Store
  /// The queue that runs scrypt on passwords.
  let scrypt: ScryptQueue

  /// How long evidence stays valid while the passwords of its request are checked, in nanoseconds.
  private static let checkingTime: UInt64 = 60_000_000_000

  /// The items with the keys of their application passwords. Each try is counted as wrong before it is made.
  func unlocked(_ wanted: [WantedItem], _ evidence: inout Evidence) async throws(VaultError) -> [WantedItem] {
    guard evidence.passwords.contains(where: { $0 != nil }) else { return wanted }
    let shownFactors = try evidence.current()
    // Others can have the reader while scrypt runs.
    evidence.giveReaderBack()
    var wanted = wanted
    let shown = store.clock.now()
    let turn = try await scrypt.turn(for: store.owner)
    for (index, password) in evidence.passwords.enumerated() {
      guard let password, let derivation = wanted[index].row.derivation else { continue }
      let count = Guessable.applicationPassword(item: wanted[index].row.id)
      try store.commit(charge: true) { change in try change.charge(count) }
      wanted[index].password = try await turn.stretch(password, .init(encoded: derivation), store.floor)
      let item = wanted[index]
      try store.read { snapshot in _ = try snapshot.release([item], shownFactors) }
      try store.commit(items: true) { change in change.authority[count] = Tries() }
    }
    guard store.clock.now() &- shown <= Self.checkingTime else {
      throw .busy("it took too long to check the application password")
    }
    return wanted
  }
}
