import Glibc
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultHost
import VaultItems

@testable import VaultStore

@Suite("The service with systemd credentials")
struct ServiceCredentialsTests {
  /// A folder of credentials with these files, as systemd makes one.
  private static func withFiles<Value>(_ files: [String: String], _ body: (String) async throws -> Value) async throws
    -> Value
  {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    for (name, text) in files { try RunningService.write(text, to: folder + "/" + name) }
    return try await body(folder)
  }

  private static let secret = String(repeating: "k", count: 32)
  /// As `systemd-creds encrypt --with-key=tpm2` and `--with-key=host` begin.
  private static let (byTPM, byHost) = ("DHzAexF2RZGcSwvqCLwg/iAAAAABAAAA", "Whxqht+dQJax1aZeCGLxmiAAAAABAAAA")

  @Test(
    "the service keeps its stores under a systemd credential, and reports whether a TPM protects that",
    arguments: [byTPM: VaultStatus.Tier.credentialOfTPM, byHost: .credential, "none": .credential, "": .credential])
  func service(_ encrypted: String, _ tier: VaultStatus.Tier) async throws {
    try await Self.withFiles(["whorl-key": Self.secret, "whorl-key-encrypted": encrypted]) { folder in
      var settings = ServiceSettings()
      settings.tpm = .none
      let storage = settings.storage(of: folder, try ServiceCredentials(in: folder))
      let service = try RunningService(storage: storage)
      try await service.makeStore()
      let connection = try service.connect()
      #expect(try await connection.status().tier == tier)
      await connection.close()
      try await service.end()
    }
  }

  @Test("the service opens no store after a loss of its credential, until the recovery key seals it under a new one")
  func lost() async throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    func storage() throws -> RootStorage {
      var settings = ServiceSettings()
      settings.tpm = .none
      return settings.storage(of: folder, try ServiceCredentials(in: folder))
    }
    func service() throws -> RunningService { try RunningService(storage: try storage()) }
    try RunningService.write(Self.secret, to: folder + "/whorl-key")
    let first = try service()
    let making = try first.connect()
    let draft = try await making.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    let recoveryKey = draft.recoveryKey.text
    try await making.keep(draft.id)
    await making.close()
    try ScratchStore.run("/bin/cp", ["-a", first.stores, folder + "/kept"])
    try await first.end()

    func later() throws -> RunningService {
      let service = try service()
      try ScratchStore.run("/bin/cp", ["-a", folder + "/kept/.", service.stores])
      return service
    }
    unlink(folder + "/whorl-key")
    let without = try later()
    for _ in 1...2 {
      let connection = try without.connect()
      await #expect(throws: VaultError.credential(.absent, detail: "systemd gave the service none")) {
        _ = try await connection.open(.own)
      }
      await #expect(throws: VaultError.credential(.absent, detail: "systemd gave the service none")) {
        try await connection.rebuildDeviceKey(at: .own, recoveryKey: SecretBytes(text: recoveryKey))
      }
      await connection.close()
    }
    try await without.end()

    try RunningService.write(String(repeating: "n", count: 64), to: folder + "/whorl-key")
    let next = try later()
    let connection = try next.connect()
    await #expect(throws: VaultError.credential(.changed, detail: "")) { _ = try await connection.open(.own) }
    try await connection.rebuildDeviceKey(at: .own, recoveryKey: SecretBytes(text: recoveryKey))
    let store = try await connection.open(.own)
    _ = try await Person(newPasscode: "a new one", recoveryKey: recoveryKey).with(store) {
      try await store.recover(accepting: nil, Asking(in: $0))
    }
    #expect(try await store.status().tier == .credential)
    await connection.close()
    try await next.end()
  }

  @Test("the service reads a current and an earlier systemd credential, each also alone, and has none without systemd")
  func both() async throws {
    func id(_ text: String) throws -> [UInt8] { try Credential(SecretBytes(text: text), isSealedByTPM: false).id }
    #expect(try ServiceCredentials(in: nil).current == nil)
    let other = String(repeating: "e", count: 32)
    for files in [
      ["whorl-key": Self.secret, "whorl-key-earlier": other], ["whorl-key": Self.secret], ["whorl-key-earlier": other],
    ] {
      try await Self.withFiles(files) { folder in
        let credentials = try ServiceCredentials(in: folder)
        #expect(try credentials.current?.id == files["whorl-key"].map(id))
        #expect(try credentials.earlier?.id == files["whorl-key-earlier"].map(id))
      }
    }
  }

  @Test("the service refuses a systemd credential that does not have 32 to 1024 bytes", arguments: ["", "too short"])
  func short(_ text: String) async throws {
    try await Self.withFiles(["whorl-key": text]) { folder in
      let error = #expect(throws: ServiceSettingsError.self) { _ = try ServiceCredentials(in: folder) }
      #expect(error?.words == "\(folder)/whorl-key: it does not have 32 to 1024 bytes")
    }
    try await Self.withFiles(["whorl-key": String(repeating: "x", count: 2_000)]) { folder in
      _ = #expect(throws: ServiceSettingsError.self) { _ = try ServiceCredentials(in: folder) }
    }
  }
}
