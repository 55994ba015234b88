import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("What opens a store after a start")
struct LoginUnlockTests {
  /// A store of the service.
  private let store: ScratchStore

  init() async throws { store = try await ScratchStore(classKeys: ClassKeys(firstUnlock: .login)) }

  /// A vault that was just started.
  private func started(atLeast firstUnlock: FirstUnlock = .login) throws -> Vault {
    try store.open(classKeys: ClassKeys(firstUnlock: firstUnlock))
  }

  private func set(_ rule: FirstUnlock, _ vault: Vault, passcode: String = ScratchStore.passcode) async throws {
    let session = VaultSession(of: vault)
    try await Person(passcodes: [passcode]).with(session) { try await session.setFirstUnlock(rule, Asking(in: $0)) }
  }

  @Test("only the passcode opens a store after a start, until the passcode has allowed a login to open it")
  func rule() async throws {
    let vault = try started()
    #expect(try await vault.status().firstUnlock == .passcode)
    #expect(try await !vault.openForLogin())
    await #expect(throws: VaultError.wrongPasscode) { try await set(.login, vault, passcode: "wrong") }
    #expect(try await !vault.openForLogin())
    try await set(.login, vault)
    try await vault.put("wallet", "gold", accessibility: .afterFirstUnlock)
    await vault.close()
    let later = try started()
    #expect(try await later.status().firstUnlock == .login)
    await #expect(throws: VaultError.notUnlocked(.afterFirstUnlock)) { try await later.get("wallet") }
    #expect(try await later.openForLogin())
    #expect(try await later.get("wallet") == "gold")
    #expect(try await later.status().openClasses.contains(.whenUnlocked))
  }

  @Test("a login does not open a store if the administrator requires the passcode, whatever was chosen before")
  func floor() async throws {
    let vault = try started()
    try await set(.login, vault)
    await vault.close()
    let later = try started(atLeast: .passcode)
    #expect(try await later.status().firstUnlock == .passcode)
    #expect(try await !later.openForLogin())
    let refusal = VaultError.invalidRequest(
      "the administrator asks for the passcode after each start (require-passcode-after-boot in whorld.conf)")
    await #expect(throws: refusal) { try await set(.login, later) }
    try await set(.passcode, later)
    #expect(try await !later.hasLoginKey())
  }

  @Test("a store that a login may no longer open needs the passcode again, and has no login key left")
  func takenBack() async throws {
    let vault = try started()
    try await set(.login, vault)
    #expect(try await vault.hasLoginKey())
    try await set(.passcode, vault)
    #expect(try await !vault.hasLoginKey())
    await vault.close()
    #expect(try await !started().openForLogin())
  }

  @Test("a login that may open a store still opens it after the passcode was changed")
  func changedPasscode() async throws {
    let vault = try started()
    try await set(.login, vault)
    try await vault.put("wallet", "gold", accessibility: .afterFirstUnlock)
    try await Person(passcodes: [ScratchStore.passcode], newPasscode: "another one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    await vault.close()
    let later = try started()
    #expect(try await later.openForLogin())
    #expect(try await later.get("wallet") == "gold")
  }

  @Test("a login never opens a restored store")
  func restored() async throws {
    let vault = try started()
    try await set(.login, vault)
    await vault.close()
    try store.restore(["state"], from: "/nonexistent")
    let later = try started()
    await #expect(throws: VaultError.restoreDetected) { try await later.openForLogin() }
    #expect(try await !later.takesPasscodeOfLogin())
    let session = VaultSession(of: later)
    await #expect(throws: VaultError.restoreDetected) {
      try await Person().with(session) { try await session.verifyForLogin(Asking(in: $0)) }
    }
  }

  @Test("the rule for the first unlock cannot be set in a private store, nor to none in a store of the service")
  func privateStore() async throws {
    let plain = try await ScratchStore()
    let vault = try plain.open()
    for rule in FirstUnlock.allCases {
      await #expect(throws: VaultError.self) { try await set(rule, vault) }
    }
    let served = try started()
    await #expect(throws: VaultError.self) { try await set(.none, served) }
    #expect(try await plain.open().openForLogin(), "a private store is open from the start")
  }
}

extension Vault {
  fileprivate func hasLoginKey() throws(VaultError) -> Bool {
    try store.read { snapshot in try snapshot.slot(.loginKey) != nil }
  }
}
