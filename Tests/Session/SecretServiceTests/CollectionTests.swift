import Primitives
import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("The collections of the Secret Service", .serialized)
struct CollectionTests {
  private static let label = "org.freedesktop.Secret.Collection.Label"

  private func make(_ label: String, _ client: ServiceClient) async throws -> String {
    let made = try await client.call(
      ServiceClient.root, "Service", "CreateCollection",
      [.dictionary([Self.label: .string(label)]), .string("")])
    return try #require(made.first?.asObjectPath)
  }

  @Test("deleting a locked Secret Service collection does not leave a new one of that name locked")
  func deletedWhileLocked() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let first = try await make("Work", client)
      #expect(try await client.change("Lock", [first]).done == [first])
      try await client.call(first, "Collection", "Delete")
      let second = try await make("Work", client)
      #expect(second == first)
      _ = try await client.create("s", in: second, label: "l", ["a": "b"], session: session)
    }
  }

  @Test("the Secret Service's permanent collections cannot be deleted, and keep their rule and items")
  func builtIn() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      for name in ["login", "session"] {
        let collection = "\(ServiceClient.root)/collection/\(name)"
        let item = try await client.create("s", in: collection, label: "l", ["a": name], session: session)
        let record = SecretServiceFolder(.collection, name, label: name, access: .anyFinger).item
        let rule = try await service.withStore { store in
          _ = try await store.put(record, secret: SharedSecret(SecretBytes(count: 0)))
          #expect(await client.error(collection, "Collection", "Delete") == "NotSupported")
          let found = try await store.items(SecretServiceFolder.search(.collection, name)).first
          return found.flatMap(SecretServiceFolder.init)?.access
        }
        #expect(rule == .anyFinger)
        #expect(try await client.secret(item, session: session).text == "s")
      }
    }
  }

  @Test("Secret Service collections with the same label that are created at the same time are different")
  func atOnce() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      // The calls of one client are answered in turn.
      var clients: [ServiceClient] = []
      for _ in 0..<8 { clients.append(try await ServiceClient(service.bus)) }
      let made = try await withThrowingTaskGroup { [clients] group in
        for each in clients { group.addTask { try await make("Work", each) } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(made.count == 8)
      let all = try #require(try await client.property(ServiceClient.root, "Service", "Collections").asArray)
      #expect(made.isSubset(of: all.compactMap(\.asObjectPath)))
    }
  }

  @Test("Secret Service items are stored as whenUnlocked with a rule, and as afterFirstUnlock without one")
  func accessibility() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      _ = try await client.create("s", label: "Mail", ["a": "b"], session: session)
      func stored() async throws -> Accessibility? {
        try await service.withStore { try await $0.items(SecretServiceItem.search()).first?.accessibility }
      }
      #expect(try await stored() == .afterFirstUnlock)
      try await service.gate("Mail", .anyFinger)
      #expect(try await stored() == .whenUnlocked)
    }
  }

  @Test("an alias of a Secret Service collection has 1 to 64 letters and digits")
  func aliases() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      func error(_ alias: String) async -> String? {
        await client.error(
          ServiceClient.root, "Service", "SetAlias", [.string(alias), .objectPath(ServiceClient.login)])
      }
      #expect(await error("") == "InvalidArgs")
      #expect(await error("a,b") == "InvalidArgs")
      #expect(await error(String(repeating: "a", count: 65)) == "InvalidArgs")
      #expect(await error(String(repeating: "a", count: 64)) == nil)
    }
  }

  @Test("the path of a Secret Service collection contains at most 64 bytes of a long label")
  func longLabel() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let path = try await make(String(repeating: "a", count: 1_000), client)
      #expect(path == "\(ServiceClient.root)/collection/\(String(repeating: "a", count: 64))")
    }
  }

  @Test("deleting a Secret Service collection also deletes items that no finger opens any more")
  func deadItems() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let work = try await make("Work", client)
      _ = try await client.create("s", in: work, label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .currentSet)
      try await service.store.enroll("left-thumb", .thumb).mustSucceed()
      func items() async throws -> [Item.State] {
        try await service.withStore { store in
          var search = SecretServiceItem.search(in: "Work")
          search.states = Set(Item.State.allCases)
          return try await store.items(search).map(\.state)
        }
      }
      #expect(try await items() == [.dead])
      try await client.call(work, "Collection", "Delete")
      #expect(try await items().isEmpty)
    }
  }

  @Test("Delete of the Item interface cannot delete a Secret Service collection")
  func otherInterface() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let work = try await make("Work", client)
      #expect(await client.error(work, "Item", "Delete") == "UnknownMethod")
      #expect(try await client.property(work, "Collection", "Label") == .string("Work"))
    }
  }

  @Test("an item with GNOME Keyring's added schema is replaced when a program stores it again without the schema")
  func addedSchema() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let schema = ["a": "b", "xdg:schema": "org.freedesktop.Secret.Generic"]
      let imported = try await client.create("1", label: "l", schema, session: session)
      #expect(try await client.create("2", label: "l", ["a": "b"], replace: true, session: session) == imported)
      #expect(try await client.create("3", label: "l", schema, replace: true, session: session) == imported)
      // A program's own schema distinguishes its items from others.
      let other = ["a": "b", "xdg:schema": "org.example.Mail"]
      #expect(try await client.create("4", label: "l", other, replace: true, session: session) != imported)
    }
  }
}
