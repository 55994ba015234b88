import Testing

/// The vault's interface, `VaultService`, is used by the vault, its wire and `Whorl`. Every other part of the package asks
/// through `SecretStore`, which lends the open vault for one request.
@Suite("The one door to the vault")
struct OneDoorTests {
  private static let name = "any VaultService"

  /// What does not go through `SecretStore` yet. A folder or file that no longer needs its place fails the test.
  private static let left: [(place: String, why: String)] = [
    ("Sources/Client/Moving/", "works with the open vault of one request"),
    ("Sources/Client/OtherStores/", "works with the open vault of one request"),
    ("Sources/Client/SecretServiceItems/SecretServiceFolder.swift", "works with the open vault of one request"),
    ("Sources/Client/Wallets/", "works with the open vault of one request"),
    ("Sources/Programs/CommandLine/Command/Session.swift", "opens the vault for the folders below"),
    ("Sources/Programs/CommandLine/Items/ItemChoice.swift", "sync, login and export name items with it"),
    ("Sources/Programs/CommandLine/Login/", "becomes a part of the settings"),
    ("Sources/Programs/CommandLine/Moving/", "drives the library Moving"),
    ("Sources/Programs/CommandLine/Passkeys/StoredPasskeys.swift", "sync names passkeys with it"),
    ("Sources/Programs/CommandLine/SecretService/", "becomes a part of the settings"),
    ("Sources/Programs/CommandLine/Sync/", "is reworked with sync"),
  ]

  @Test("only the vault, its wire and the library Whorl name the vault's interface, but for the places that are left")
  func sources() throws {
    let files = try Repository.files(under: ["Sources", "Examples"], extensions: ["swift"])
    #expect(files.count > 100, "the files were not found")
    let users = try files.filter { file in
      let isInside = file.hasPrefix("Sources/Vault/") || file.hasPrefix("Sources/Client/Whorl/")
      return try !isInside && Repository.text(file).contains(Self.name)
    }
    for user in users where !Self.left.contains(where: { user.hasPrefix($0.place) }) {
      Issue.record("\(user) names \(Self.name): ask through SecretStore (Sources/Client/Whorl/Inquiry.swift)")
    }
    for (place, _) in Self.left where !users.contains(where: { $0.hasPrefix(place) }) {
      Issue.record("\(place) asks through SecretStore now: remove it from the list of this test")
    }
  }

  @Test("only the library Whorl opens authentication contexts, so that every prompt has one flow")
  func contexts() throws {
    let files = try Repository.files(under: ["Sources"], extensions: ["swift"])
    let users = try files.filter { file in
      try !file.hasPrefix("Sources/Vault/") && Repository.text(file).contains(".openContext(")
    }
    #expect(users == ["Sources/Client/Whorl/AuthenticationContext.swift"])
  }
}
