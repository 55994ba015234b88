import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultDriver

@testable import Moving

@Suite("The Secret Service")
struct SecretServiceTests {
  private static let items = [
    SecretServiceStandIn.Item(
      label: "Password for alice", attributes: ["service": "forge", "username": "alice", "application": "keyring"],
      secret: Array("of the forge".utf8)),
    SecretServiceStandIn.Item(label: "Chrome Safe Storage", attributes: ["application": "chrome"], secret: [0xFF, 0]),
    SecretServiceStandIn.Item(label: "Refused", attributes: [:], secret: nil),
    SecretServiceStandIn.Item(label: "Empty", attributes: [:], secret: []),
  ]

  private func with(
    _ prompt: SecretServiceStandIn.Prompt = .none, _ body: (SecretServiceStore) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let service = try await SecretServiceStandIn(on: bus, prompt: prompt, Self.items)
      defer { service.close() }
      try await body(try await SecretServiceStore(onBus: bus.address))
    }
  }

  @Test("items imported from the Secret Service are named by attributes, or else by their label, and keep both")
  func items() async throws {
    try await with { store in
      #expect(
        store.entries.map(\.name.description) == ["forge/alice", "Chrome Safe Storage", "Refused", "Empty"])
      let forge = try #require(try await store.items(of: store.entries[0]).first)
      #expect(forge.secret.text == "of the forge")
      #expect(
        forge.attributes.map { "\($0.key.rawValue)=\($0.value)" }.sorted() == [
          #"labl=text("Password for alice")"#, #"whorl.field.application=text("keyring")"#,
          #"whorl.field.service=text("forge")"#, #"whorl.field.username=text("alice")"#,
        ])
      let bytes = try await store.items(of: store.entries[1]).first?.secret.withUnsafeBytes { Array($0) }
      #expect(bytes == [0xFF, 0])
    }
  }

  @Test("an item that the Secret Service does not release, or with an empty secret, is reported, and others are read")
  func refused() async throws {
    try await with { store in
      await #expect(throws: ImportError.unreadable("is not given out: It is locked")) {
        try await store.items(of: store.entries[2])
      }
      await #expect(throws: ImportError.unreadable("has an empty secret")) {
        try await store.items(of: store.entries[3])
      }
      let forge = try #require(try await store.items(of: store.entries[0]).first)
      #expect(forge.secret.text == "of the forge")
    }
  }

  @Test("a locked collection of the Secret Service is unlocked by the service's prompt")
  func prompted() async throws {
    try await with(.accepted) { store in
      #expect(store.entries.count == 4 && store.unusable.isEmpty)
      let forge = try #require(try await store.items(of: store.entries[0]).first)
      #expect(forge.secret.text == "of the forge")
    }
  }

  @Test("a Secret Service collection with a dismissed prompt is reported, also if another program fakes its completion")
  func dismissed() async throws {
    for prompt in [SecretServiceStandIn.Prompt.dismissed, .forged] {
      try await with(prompt) { store in
        #expect(store.entries.isEmpty)
        #expect(store.unusable == [UnusableEntry("collection Login", .source("stayed locked"))])
      }
    }
  }

  @Test("a missing bus and a bus without a Secret Service are reported")
  func absent() async throws {
    _ = try await PrivateBus.with { bus in
      await #expect(throws: ImportError.self) { _ = try await SecretServiceStore(onBus: bus.address) }
    }
    await #expect(throws: ImportError.self) { try await SecretServiceStore(onBus: "unix:path=/nonexistent/bus") }
  }
}
