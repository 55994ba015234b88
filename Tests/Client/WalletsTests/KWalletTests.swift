import Glibc
import Presence
import Primitives
import ProgramDriver
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@testable import Settings

@Suite("Opening the wallet of KWallet", .withKWallet, .serialized)
struct KWalletTests {
  private func choice(_ desktop: KWalletDesktop, _ vault: any VaultService) -> KWalletChoice {
    KWalletChoice(desktop.places, in: vault) { password, salt in
      SharedSecret(try WalletKey.derive(from: password.bytes, salt: salt))
    }
  }

  private func password(_ text: String = KWalletDesktop.password) -> SharedSecret {
    SharedSecret(SecretBytes(text: text))
  }

  private func handOver(
    _ desktop: KWalletDesktop, _ vault: any VaultService, at moment: LoginHandover.Moment = .login,
    environment: [String]? = nil
  ) async throws -> [LoginHandover.Outcome] {
    try await LoginHandover(
      in: vault, keyring: KeyringPlaces(data: desktop.folder, runtime: desktop.runtime),
      kwallet: KWalletOpening(desktop.places, environment: environment ?? desktop.environment),
      delivery: Delivery(runtime: desktop.runtime, environment: [])
    ).run(at: moment).map(\.outcome)
  }

  @Test("KWallet's key is stored after it opened a copy, opens the wallet at a login, and can be removed")
  func wholeWay() async throws {
    try await KWalletDesktop.with { desktop in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let files = try [desktop.places.file, desktop.places.salt].map(readFile)
      try await choice(desktop, vault).enable(password: password())
      #expect(try [desktop.places.file, desktop.places.salt].map(readFile) == files)
      #expect(try await desktop.daemon() == nil, "the copy is tried on a bus of its own")
      let key = try #require(try await LoginEntries(in: vault).secret(of: KWalletChoice.entry))
      #expect(key.bytes.count == 56)

      #expect(try await handOver(desktop, vault) == [.handedOver])
      #expect(try await desktop.stored() == "in the wallet")
      // The wallet is open already.
      let pid = try #require(try await desktop.daemon())
      #expect(try await handOver(desktop, vault) == [.handedOver])
      #expect(try await desktop.daemon() == pid)
      #expect(try folderEntries(desktop.runtime).filter { $0.contains("whorl") && !$0.hasSuffix(".lock") } == [])

      try await choice(desktop, vault).disable()
      #expect(try await LoginEntries(in: vault).all().isEmpty)
    }
  }

  @Test("KWallet's daemon gets the key in no argument and no environment variable")
  func keyIsNotSeen() async throws {
    try await KWalletDesktop.with { desktop in
      let key = try desktop.key(of: KWalletDesktop.password)
      try await desktop.opening.open(with: key.bytes)
      let pid = try #require(try await desktop.daemon())
      let secret = key.bytes.withUnsafeBytes { Array($0.prefix(8)) }
      for place in ["cmdline", "environ"] {
        let bytes = try readFile("/proc/\(pid)/\(place)")
        #expect(!bytes.isEmpty)
        #expect(!(0...max(0, bytes.count - 8)).contains { Array(bytes[$0...].prefix(8)) == secret }, "\(place)")
      }
    }
  }

  @Test("a wrong password for KWallet is reported, and nothing is stored")
  func wrongPassword() async throws {
    try await KWalletDesktop.with { desktop in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      await #expect(throws: WalletError.wrongSecret) {
        try await choice(desktop, vault).enable(password: password("wrong"))
      }
      #expect(try await LoginEntries(in: vault).all().isEmpty)
    }
  }

  @Test("a missing, damaged, GPG or older-format KWallet file is reported before a daemon gets the key")
  func otherFiles() async throws {
    try await KWalletDesktop.with { desktop in
      let key = try desktop.key(of: KWalletDesktop.password)
      let whole = try readFile(desktop.places.file)
      func expect(_ bytes: [UInt8]?, _ matches: (WalletError?) -> Bool) async throws {
        unlink(desktop.places.file)
        if let bytes { try writeFile(desktop.places.file, bytes) }
        await #expect {
          try await desktop.opening.open(with: key.bytes)
        } throws: {
          matches($0 as? WalletError)
        }
        #expect(throws: WalletError.self) { _ = try KWalletTrial(of: desktop.places) }
        let daemon = try await desktop.daemon()
        #expect(daemon == nil)
      }
      func changed(_ cipher: UInt8, _ hash: UInt8) -> [UInt8] { Array(whole[..<14]) + [cipher, hash] + whole[16...] }
      try await expect(nil) { if case .missing? = $0 { true } else { false } }
      try await expect([]) { if case .damaged? = $0 { true } else { false } }
      try await expect(Array("no wallet at all".utf8)) { if case .damaged? = $0 { true } else { false } }
      try await expect(changed(2, 2)) { if case .unsupported? = $0 { true } else { false } }
      try await expect(changed(3, 0)) { if case .unsupported? = $0 { true } else { false } }
      try await expect(changed(9, 2)) { if case .unsupported? = $0 { true } else { false } }
      try writeFile(desktop.places.salt, [1, 2, 3])
      try await expect(whole) { if case .damaged? = $0 { true } else { false } }
    }
  }

  @Test("a KWallet daemon that runs with a closed wallet is reported, and gets no key")
  func closedDaemon() async throws {
    try await KWalletDesktop.with { desktop in
      let key = try desktop.key(of: KWalletDesktop.password)
      try await desktop.start(with: try desktop.key(of: "wrong").bytes)
      let pid = try await desktop.daemon()
      await #expect {
        try await desktop.opening.open(with: key.bytes)
      } throws: {
        if case .refused? = $0 as? WalletError { true } else { false }
      }
      #expect(try await desktop.daemon() == pid)
    }
  }

  @Test("a KWallet daemon that ends at once or answers something else is reported")
  func otherDaemons() async throws {
    try await KWalletDesktop.with { desktop in
      let key = try desktop.key(of: KWalletDesktop.password)
      func places(_ change: (inout KWalletDaemon) -> Void) -> KWalletPlaces {
        var daemon = desktop.places.daemon
        change(&daemon)
        return KWalletPlaces(data: "\(desktop.folder)/data", runtime: desktop.runtime, daemon: daemon)
      }
      let ending = places { $0.program = "/usr/bin/true" }
      await #expect {
        try await KWalletOpening(ending, environment: desktop.environment).open(with: key.bytes)
      } throws: {
        if case .program? = $0 as? WalletError { true } else { false }
      }
      await #expect {
        _ = try await KWalletTrial(of: ending).opens(with: key.bytes)
      } throws: {
        if case .program? = $0 as? WalletError { true } else { false }
      }
      let other = places { ($0.member, $0.arguments) = ("localWallet", []) }
      await #expect {
        _ = try await KWalletTrial(of: other).opens(with: key.bytes)
      } throws: {
        if case .noAnswer? = $0 as? WalletError { true } else { false }
      }
    }
  }

  @Test("a login without a desktop leaves KWallet closed in silence, and a command to open it says what is missing")
  func withoutDesktop() async throws {
    try await KWalletDesktop.with { desktop in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      try await choice(desktop, vault).enable(password: password())
      let environment = desktop.environment.filter { !$0.hasPrefix("QT_QPA_PLATFORM=") }
      #expect(try await handOver(desktop, vault, environment: environment).isEmpty)
      let asked = try await handOver(desktop, vault, at: .command, environment: environment)
      #expect(asked == [.wallet(.notRunning("KWallet needs a desktop, and there is none in this session"))])
      #expect(try await desktop.daemon() == nil)
    }
  }

  @Test("the repair of KWallet's key notices a changed password, and keeps the old key until it has the new one")
  func changedPassword() async throws {
    try await KWalletDesktop.with { desktop in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let choice = choice(desktop, vault)
      #expect(try await choice.repair { nil } == .nothing)
      try await choice.enable(password: password())
      #expect(try await choice.repair { nil } == .opens)
      let old = try #require(try await LoginEntries(in: vault).secret(of: KWalletChoice.entry))
      try await desktop.makeWallet(with: "changed in KDE")

      let handed = try await handOver(desktop, vault)
      #expect(handed.count == 1 && handed != [.handedOver])
      try await desktop.end()
      #expect(try await choice.repair { nil } == .unknown)
      await #expect(throws: WalletError.wrongSecret) { _ = try await choice.repair { self.password() } }
      let kept = try #require(try await LoginEntries(in: vault).secret(of: KWalletChoice.entry))
      let isTheSame = kept.bytes.constantTimeEquals(old.bytes)
      #expect(isTheSame)
      #expect(try await choice.repair { self.password("changed in KDE") } == .replaced)
      #expect(try await handOver(desktop, vault) == [.handedOver])
      #expect(try await desktop.stored() == "in the wallet")
    }
  }

  @Test("whorl login enable, status, open, repair and disable manage KWallet's key")
  func commands() async throws {
    try await TestStore.with { store in
      try await KWalletDesktop.with { desktop in
        func whorl(_ words: String..., lines: [String] = []) async throws -> Invocation.Result {
          try await Invocation(
            arguments: store.arguments(words), descriptors: lines.isEmpty ? [] : [lines.map { $0 + "\n" }.joined()],
            environment: desktop.variables
          ).run()
        }
        let before = try await whorl("login", "status", "--json")
        #expect(before.text.contains(#""keyKept":false"#), "\(before.diagnostics)")
        let wrong = try await whorl("login", "enable", "kwallet", "--password-fd", "3", lines: ["wrong"])
        #expect(
          wrong.status == 77 && wrong.failure.contains("that is not the password of KWallet"), "\(wrong.diagnostics)")
        try await whorl(
          "login", "enable", "kwallet", "--password-fd", "3", lines: [KWalletDesktop.password]
        ).mustSucceed()
        #expect(try await whorl("login", "status", "--json").text.contains(#""keyKept":true"#))
        try await whorl("login", "open", "kwallet").mustSucceed()
        #expect(try await desktop.stored() == "in the wallet")
        let repaired = try await whorl("login", "repair", "--json")
        #expect(repaired.text.contains(#""kwallet":"opens""#), "\(repaired.diagnostics)")
        try await whorl("login", "disable", "kwallet").mustSucceed()
        #expect(try await whorl("login", "ls").text.isEmpty)
      }
    }
  }
}
