import Testing

/// The vault's interface, `VaultService`, is used by the vault, its wire and `Whorl`. Every other part of the package asks
/// through `SecretStore`, which lends the open vault for one request.
@Suite("The one door to the vault")
struct OneDoorTests {
  private static let name = "any VaultService"

  /// The libraries below `Whorl` whose work is one request: they get the vault from whoever makes it. A place that no
  /// longer names it fails the test.
  private static let lent = [
    "Sources/Client/Moving/", "Sources/Client/Wallets/",
  ]

  @Test("only the vault, its wire, the library Whorl and what it lends the vault to name its interface")
  func sources() throws {
    let files = try Repository.files(under: ["Sources", "Examples"], extensions: ["swift"])
    #expect(files.count > 100, "the files were not found")
    let users = try files.filter { file in
      let isInside = file.hasPrefix("Sources/Vault/") || file.hasPrefix("Sources/Client/Whorl/")
      return try !isInside && Repository.text(file).contains(Self.name)
    }
    for user in users where !Self.lent.contains(where: { user.hasPrefix($0) }) {
      Issue.record("\(user) names \(Self.name): ask through SecretStore (Sources/Client/Whorl/Inquiry.swift)")
    }
    for place in Self.lent where !users.contains(where: { $0.hasPrefix(place) }) {
      Issue.record("\(place) does not name \(Self.name) any more: remove it from the list of this test")
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
