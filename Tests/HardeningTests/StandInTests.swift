import Fingerprint
import SecureMemory
import Testing
import Vault
import VaultDriver

@Suite("An fprintd that a configuration names, in a store that has the machine's own")
struct StandInTests {
  private func finger(_ byte: UInt8) -> FprintdPrint {
    FprintdPrint(finger: .rightIndex, digest: [UInt8](repeating: byte, count: 32))
  }

  @Test("its fingers are not taken over: whoever writes a configuration would open every item with a finger of theirs")
  func notTakenOver() async throws {
    let store = try await ScratchStore()
    let real = try store.open(reader: ScriptedReader(fprintd: [finger(1)], nature: .physical))
    let item = try await real.add(
      NewItem(.genericPassword, [.service: .text("any")], access: AccessControl(.biometryAny)),
      secret: SecretBytes(text: "secret"), in: nil
    ).id
    @Sendable func read(_ vault: Vault) async throws -> String {
      try await Person().with(vault) { try await vault.secrets(of: [item], reason: nil, in: $0)[0].text }
    }
    #expect(try await read(real) == "secret")
    await real.shutdown()

    let standIn = try store.open(reader: ScriptedReader(fprintd: [finger(2)], nature: .virtual))
    let refused = await #expect(throws: VaultError.self) { _ = try await read(standIn) }
    guard case .notEnrolled = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
    await standIn.shutdown()

    let again = try store.open(reader: ScriptedReader(fprintd: [finger(1)], nature: .physical))
    #expect(try await read(again) == "secret")
    await again.shutdown()
  }
}
