import Primitives
import SecretModel
import Testing
import Whorl

@Suite("How often the vault releases an item of the Secret Service")
struct OneReleaseTests {
  /// Stores items that require a finger or the passcode.
  private func gated(_ labels: [String], _ client: ServiceClient, _ session: String, _ store: SecretStore) async throws
    -> [String]
  {
    var paths: [String] = []
    for label in labels {
      paths.append(try await client.create("of \(label)", label: label, ["name": label], session: session))
    }
    for item in try await store.items(SecretServiceItem.search()).compactMap(SecretServiceItem.init) {
      let rule = SecretServiceItem.change(access: AccessControl(.presence), grant: .brief)
      try await store.update([item.id], rule)
    }
    return paths
  }

  @Test("a prompt of Unlock releases no item, and a read after it releases the item once")
  func unlocked() async throws {
    try await EndingVault.with { bus, vault, store in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      let items = try await gated(["Bank", "Mail"], client, session, store)
      #expect(try await client.show(try await client.change("Unlock", items).prompt) == (false, items))
      #expect(vault.count(of: .secrets) == 0)
      #expect(try await client.secret(items[0], session: session).text == "of Bank")
      #expect(vault.count(of: .secrets) == 1)
    }
  }

  @Test("a read that waits for its own prompt releases the item once")
  func waited() async throws {
    try await EndingVault.with { bus, vault, store in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      let items = try await gated(["Bank"], client, session, store)
      #expect(try await client.secret(items[0], session: session).text == "of Bank")
      #expect(vault.count(of: .secrets) == 1)
    }
  }
}
