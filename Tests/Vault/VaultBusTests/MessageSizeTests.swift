import SecretModel
import Testing
import VaultBus

@Suite("A vault message that is too large")
struct MessageSizeTests {
  private static func isInvalidRequest(_ error: any Error) -> Bool {
    if case .invalidRequest? = error as? VaultError { true } else { false }
  }

  @Test("a too large message to or from a vault is refused before it is sent, and the connection continues")
  func sizes() async throws {
    let long = [UInt8](repeating: 7, count: 22 << 20)
    let item = Item(
      id: ItemID(bytes: [1]), state: .living, itemClass: .key, attributes: [.label: .bytes(long)], access: .none,
      accessibility: .whenUnlocked, created: 0, modified: 0)
    let stub = StubVault(
      .init(items: { search throws(VaultError) in
        ItemPage(items: Array(repeating: item, count: search.limit ?? 0), next: nil)
      }))
    let vault = try await Way.overSocket.connect(to: stub).open(StorePlace(directory: "/"))
    await #expect {
      _ = try await vault.items(ItemSearch(nil, [.label: .bytes(long)]), .nobody)
    } throws: { Self.isInvalidRequest($0) }
    await #expect {
      _ = try await vault.items(ItemSearch(limit: 3), .nobody)
    } throws: { Self.isInvalidRequest($0) }
    #expect(try await vault.items(ItemSearch(limit: 2), .nobody).items == [item, item])
  }
}
