import Presence
import Primitives
import ProgramDriver
import SDBus
import SecretModel
import SecretService
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

/// The Secret Service in this process, over a vault that the test locks and unlocks as another program could.
@Suite("The vault is locked beside the Secret Service")
struct VaultLockTests {
  /// Types the right passcode.
  private struct Typist: AuthenticationPrompt {
    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      if case .secretWanted = event { await session.answer(SecretBytes(text: ScratchStore.passcode)) }
    }
  }

  /// Login sessions that a test locks and unlocks.
  private final class Sessions: SessionGate {
    let unlocked = Mutex(true)

    func refusal(for _: Caller, at _: ReaderPlace) async -> SessionRefusal? { nil }
    func sessionRefusal(for _: Caller, at _: ReaderPlace) async -> SessionRefusal? { nil }
    func sessionChange(from known: SessionRefusal?, for caller: Caller) async {
      await NoSessionGate().sessionChange(from: known, for: caller)
    }
    func untilRefused(for caller: Caller) async -> SessionRefusal { await NoSessionGate().untilRefused(for: caller) }
    nonisolated(nonsending) func isUnlocked(_: UInt32) async -> Bool { unlocked.withLock { $0 } }
  }

  @Test("Secret Service items without a rule are open while the screen is locked, and those with a rule are not")
  func screenLock() async throws {
    try await PrivateBus.with { bus in
      let sessions = Sessions()
      let scratch = try await ScratchStore()
      let vault = try scratch.open(gate: sessions)
      let beginning = try await SecretServiceServer.begin(
        .init(
          bus: bus.address, openStore: { SecretStore(service: VaultSession(of: vault), prompt: Typist()) },
          prompt: { _ in Typist() }, log: { _ in }, ended: {}))
      guard case .serving = beginning else { throw SystemFailure("\(beginning)", 0) }
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      let open = try await client.create("of Mail", label: "Mail", ["a": "b"], session: session)
      let gated = try await client.create("of Bank", label: "Bank", ["c": "d"], session: session)
      let store = SecretStore(service: VaultSession(of: vault), prompt: Typist())
      let bank = try #require(try await store.items(SecretServiceItem.search(["c": "d"])).first)
      try await store.update([bank.id], SecretServiceItem.change(access: AccessControl(.passcode), grant: .brief))
      sessions.unlocked.withLock { $0 = false }
      #expect(try await client.secret(open, session: session).text == "of Mail")
      #expect(await client.error(gated, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
      sessions.unlocked.withLock { $0 = true }
      #expect(try await client.secret(gated, session: session).text == "of Bank")
    }
  }

  @Test("the Secret Service announces the vault's lock and unlock for its collections and items")
  func announced() async throws {
    try await PrivateBus.with { bus in
      let scratch = try await ScratchStore(classKeys: ClassKeys(firstUnlock: .passcode))
      let vault = try scratch.open(classKeys: ClassKeys(firstUnlock: .passcode))
      func open() -> SecretStore { SecretStore(service: VaultSession(of: vault), prompt: Typist()) }
      let other = open()
      func unlock() async throws { try await other.unlock(reason: "test", using: other.makeContext()) }
      let said = Mutex<[String]>([])
      let beginning = try await SecretServiceServer.begin(
        .init(
          bus: bus.address, openStore: { SecretStore(service: VaultSession(of: vault), prompt: Typist()) },
          prompt: { _ in Typist() }, log: { line in said.withLock { $0.append(line) } }, ended: {}))
      guard case .serving = beginning else { throw SystemFailure("\(beginning)", 0) }
      let client = try await ServiceClient(bus)
      let login = ServiceClient.login
      #expect(try await client.property(login, "Collection", "Locked") == .boolean(true))
      try await unlock()
      #expect(try await client.changed("Locked", of: login) == .boolean(false))
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      let closed = try await client.create("t", label: "m", ["c": "d"], session: session)
      _ = try await client.change("Lock", [closed])
      #expect(try await client.changed("Locked", of: closed) == .boolean(true))

      let name = try ItemName(service: "login", account: String(try #require(item.split(separator: "/").last)))
      func openSecrets() async throws -> Int {
        try await other.openSecrets(named: [name], inGroup: SecretServiceItem.accessGroup).count
      }
      #expect(try await openSecrets() == 1)
      try await vault.lock()
      #expect(try await openSecrets() == 0)
      #expect(await client.error(item, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
      #expect(said.withLock { $0 } == [], "nobody was asked")
      for path in [login, item, closed] {
        #expect(try await client.changed("Locked", of: path) == .boolean(true))
        let interface = path == login ? "Collection" : "Item"
        #expect(try await client.property(path, interface, "Locked") == .boolean(true))
      }
      try await unlock()
      for path in [login, item] { #expect(try await client.changed("Locked", of: path) == .boolean(false)) }
      // What a program has locked stays locked.
      #expect(try await client.property(closed, "Item", "Locked") == .boolean(true))
      #expect(!client.hasSignal("PropertiesChanged", of: closed))
    }
  }
}
