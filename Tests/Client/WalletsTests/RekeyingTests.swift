import Presence
import Primitives
import ProgramDriver
import SecretModel
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@testable import Settings

@Suite("Changing the login keyring's password to a random secret", .withKeyring, .serialized)
struct RekeyingTests {
  private struct Stopped: Error {}

  /// Seals for the recovery key alone.
  private func sealing(_ vault: any VaultService) -> (borrowing SecretBytes) async throws -> SealedCopy {
    { try await LoginEntries(in: vault).sealedCopy(of: $0, under: .recoveryKey) }
  }

  /// Seals for the passcode as well; a person types it.
  private func sealingWithPasscode(_ vault: any VaultService) -> (borrowing SecretBytes) async throws -> SealedCopy {
    { secret in
      let secret = SharedSecret(secret.copy())
      return try await Person(passcodes: [ScratchStore.passcode]).with(vault) {
        try await LoginEntries(in: vault).sealedCopy(
          of: secret.bytes, under: .passcodeAndRecoveryKey, Asking(in: $0))
      }
    }
  }

  /// Opens a copy with the recovery key, as a person who has lost the store does.
  private func opening(_ store: ScratchStore) -> (SealedCopy) async throws -> SharedSecret {
    { SharedSecret(try await ScratchStore.open($0, with: .recoveryKey(SecretBytes(text: store.recoveryKey)))) }
  }

  @Test("a login keyring with a random secret opens with that alone, keeps its items, and can get a password back")
  func wholeWay() async throws {
    try await PrivateBus.with { bus in
      try await KeyringDaemon.with(bus: bus.address) { daemon in
        let stored = try await daemon.secretTool(
          "store", "--label=x", "--collection=login", "site", "a", input: "in the keyring")
        #expect(stored.status == 0, "\(stored.diagnostics)")
        let store = try await ScratchStore()
        let vault = VaultSession(of: try store.open())
        let steps = Mutex<[KeyringRekeying.Step]>([])
        let rekeying = KeyringRekeying(daemon.places, in: vault) { step in steps.withLock { $0.append(step) } }
        try await rekeying.enable(
          password: SecretBytes(text: KeyringDaemon.password), sealing: sealing(vault), opening: opening(store))
        #expect(steps.withLock { $0 } == KeyringRekeying.Step.allCases)

        let secret = try #require(try await LoginEntries(in: vault).secret(of: KeyringRekeying.entry)).bytes.text
        #expect(secret.count == 64)
        #expect(try await daemon.fileOpens(with: secret))
        #expect(try await !daemon.fileOpens(with: KeyringDaemon.password))
        #expect(daemon.files.contains("login.keyring.before-whorl"), "kept until a login has opened the keyring")

        // The next session: the keyring is locked, and opened as at a login.
        try await daemon.restart()
        #expect(try await daemon.secretTool("lookup", "site", "a").text == "")
        let handed = try await LoginHandover(
          in: vault, keyring: daemon.places,
          kwallet: KWalletOpening(KWalletPlaces(data: daemon.folder, runtime: daemon.runtime), environment: []),
          delivery: Delivery(runtime: daemon.runtime, environment: [])
        ).run(at: .login)
        #expect(handed.map(\.outcome) == [.handedOver])
        #expect(try await daemon.secretTool("lookup", "site", "a").text == "in the keyring")
        #expect(!daemon.files.contains("login.keyring.before-whorl"))

        try await rekeying.disable(secret: SecretBytes(text: secret), password: SecretBytes(text: "another"))
        #expect(try await daemon.fileOpens(with: "another"))
        #expect(try await !daemon.fileOpens(with: secret))
        #expect(daemon.files.filter { $0.contains("whorl") } == [])
        #expect(try await LoginEntries(in: vault).all().isEmpty)
        #expect(try await daemon.secretTool("lookup", "site", "a").text == "in the keyring")
      }
    }
  }

  @Test("a wrong password for the login keyring changes nothing, and the user's daemon never sees it")
  func wrongPassword() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let before = try readFile(daemon.places.file)
      let files = daemon.files
      await #expect(throws: WalletError.wrongSecret) {
        try await KeyringRekeying(daemon.places, in: vault).enable(
          password: SecretBytes(text: "wrong"), sealing: sealing(vault), opening: opening(store))
      }
      #expect(try readFile(daemon.places.file) == before)
      #expect(daemon.files == files)
      #expect(try await LoginEntries(in: vault).all().isEmpty)
      let log = String(decoding: try readFile("\(daemon.folder)/log"), as: UTF8.self)
      #expect(!log.contains("incorrect"))
    }
  }

  @Test(
    "an interrupted change to a random secret leaves a keyring that opens, and repair finds which secret does",
    arguments: KeyringRekeying.Step.allCases)
  func interruptedEnabling(_ last: KeyringRekeying.Step) async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      await #expect(throws: Stopped.self) {
        try await KeyringRekeying(daemon.places, in: vault) { if $0 == last { throw Stopped() } }.enable(
          password: SecretBytes(text: KeyringDaemon.password), sealing: sealing(vault), opening: opening(store))
      }
      let isChanged = ![.walked, .rehearsed, .stored, .sealed, .kept].contains(last)
      #expect(try await daemon.fileOpens(with: KeyringDaemon.password) == !isChanged)
      let asked = Mutex(0)
      let outcome = try await KeyringRepair(daemon.places, in: vault).run(
        asking: .init {
          asked.withLock { $0 += 1 }
          return SharedSecret(SecretBytes(text: KeyringDaemon.password))
        } sealedSecret: { _ in
          nil
        })
      #expect(outcome == ([.walked, .rehearsed].contains(last) ? .nothing : isChanged ? .ownSecret : .password))
      // Without a copy of the file, only the person can say whether the password still opens it.
      #expect(asked.withLock { $0 } == ([.stored, .sealed].contains(last) ? 1 : 0))
      let secret = try await LoginEntries(in: vault).secret(of: KeyringRekeying.entry)?.bytes.text
      #expect((secret != nil) == isChanged)
      if let secret { #expect(try await daemon.fileOpens(with: secret)) }
      #expect(daemon.files.contains("login.keyring.whorl") == isChanged)
      if !isChanged { #expect(daemon.files.filter { $0.contains("whorl") } == []) }
    }
  }

  @Test(
    "an interrupted change back to a password leaves a keyring that opens, and repair finds which secret does",
    arguments: [KeyringRekeying.Step.rehearsed, .changed, .verified, .opened])
  func interruptedDisabling(_ last: KeyringRekeying.Step) async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      try await KeyringRekeying(daemon.places, in: vault).enable(
        password: SecretBytes(text: KeyringDaemon.password), sealing: sealing(vault), opening: opening(store))
      let secret = try #require(try await LoginEntries(in: vault).secret(of: KeyringRekeying.entry))
      await #expect(throws: Stopped.self) {
        try await KeyringRekeying(daemon.places, in: vault) { if $0 == last { throw Stopped() } }.disable(
          secret: secret.bytes, password: SecretBytes(text: "another"))
      }
      let outcome = try await KeyringRepair(daemon.places, in: vault).run(
        asking: .init {
          SharedSecret(SecretBytes(text: "another"))
        } sealedSecret: { _ in
          nil
        })
      #expect(outcome == (last == .rehearsed ? .ownSecret : .password))
      #expect(try await daemon.fileOpens(with: "another") == (last != .rehearsed))
      #expect(try await LoginEntries(in: vault).has(KeyringRekeying.entry) == (last == .rehearsed))
    }
  }

  @Test("the login keyring's repair removes nothing if it does not know which secret opens the keyring")
  func unknown() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      try await LoginEntries(in: vault).put(KeyringRekeying.entry, secret: SecretBytes(text: "of another time"))
      let repair = KeyringRepair(daemon.places, in: vault)
      #expect(
        try await repair.run(
          asking: .init {
            nil
          } sealedSecret: { _ in
            nil
          }) == .unknown)
      await #expect(throws: WalletError.wrongSecret) {
        try await repair.run(
          asking: .init {
            SharedSecret(SecretBytes(text: "wrong"))
          } sealedSecret: { _ in
            nil
          })
      }
      #expect(try await LoginEntries(in: vault).secret(of: KeyringRekeying.entry)?.bytes.text == "of another time")
    }
  }

  /// Answers with the passcode of the store that sealed the copy, and with no password.
  private static let withPasscode = KeyringRepair.Questions {
    nil
  } sealedSecret: { copy in
    SharedSecret(try await ScratchStore.open(copy, with: .passcode(SecretBytes(text: ScratchStore.passcode))))
  }

  @Test("the copy sealed beside the login keyring brings back the right secret if the store has an earlier one")
  func staleStore() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let entries = LoginEntries(in: vault)
      try await KeyringRekeying(daemon.places, in: vault).enable(
        password: SecretBytes(text: KeyringDaemon.password), sealing: sealingWithPasscode(vault),
        opening: opening(store))
      try await entries.put(KeyringRekeying.entry, secret: SecretBytes(text: "of an old backup"))
      let outcome = try await KeyringRepair(daemon.places, in: vault).run(
        asking: Self.withPasscode)
      #expect(outcome == .ownSecret)
      let secret = try #require(try await entries.secret(of: KeyringRekeying.entry)).bytes.text
      #expect(try await daemon.fileOpens(with: secret))
    }
  }

  @Test("the copy sealed beside the login keyring brings its secret into another store if the first is gone")
  func lostStore() async throws {
    try await KeyringDaemon.with { daemon in
      let lost = try await ScratchStore()
      let vault = VaultSession(of: try lost.open())
      try await KeyringRekeying(daemon.places, in: vault).enable(
        password: SecretBytes(text: KeyringDaemon.password), sealing: sealingWithPasscode(vault), opening: opening(lost)
      )
      let new = try await ScratchStore(passcode: "another passcode")
      let other = VaultSession(of: try new.open())
      let outcome = try await KeyringRepair(daemon.places, in: other).run(
        asking: Self.withPasscode)
      #expect(outcome == .ownSecret)
      let secret = try #require(try await LoginEntries(in: other).secret(of: KeyringRekeying.entry)).bytes.text
      #expect(try await daemon.fileOpens(with: secret))
      // It is now sealed for the new store.
      let copy = try #require(daemon.places.sealedCopy)
      let opened = try await ScratchStore.open(copy, with: .recoveryKey(SecretBytes(text: new.recoveryKey)))
      #expect(opened.text == secret)
    }
  }

  @Test("repair restores a missing or truncated login keyring as it was before the change", arguments: [false, true])
  func lostFile(isCut: Bool) async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      try await KeyringRekeying(daemon.places, in: vault).enable(
        password: SecretBytes(text: KeyringDaemon.password), sealing: sealing(vault), opening: opening(store))
      daemon.end()
      if isCut {
        try writeFile(daemon.places.file, Array(try readFile(daemon.places.file).prefix(60)))
      } else {
        removeFolder(daemon.places.file)
      }
      let outcome = try await KeyringRepair(daemon.places, in: vault).run(
        asking: .init {
          nil
        } sealedSecret: { _ in
          nil
        })
      #expect(outcome == .password)
      #expect(try await daemon.fileOpens(with: KeyringDaemon.password))
      #expect(daemon.files.contains("login.keyring.damaged") == isCut)
    }
  }

  @Test("a login keeps the keyring's sealed copy until the passcode changes, then seals for the recovery key alone")
  func renewedCopy() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let actor = try store.open()
      let vault = VaultSession(of: actor)
      try await KeyringRekeying(daemon.places, in: vault).enable(
        password: SecretBytes(text: KeyringDaemon.password), sealing: sealingWithPasscode(vault),
        opening: opening(store))
      let entries = LoginEntries(in: vault)
      let secret = try #require(try await entries.secret(of: KeyringRekeying.entry))
      let opening = KeyringOpening(daemon.places)
      let first = try #require(daemon.places.sealedCopy)
      #expect(first.keys == .passcodeAndRecoveryKey)
      try await opening.renewSealedCopy(of: secret.bytes, entries)
      #expect(daemon.places.sealedCopy == first)

      try await Person(passcodes: [ScratchStore.passcode], newPasscode: "another one").with(actor) {
        try await actor.changePasscode(in: $0)
      }
      try await opening.renewSealedCopy(of: secret.bytes, entries)
      let second = try #require(daemon.places.sealedCopy)
      #expect(second.keys == .recoveryKey)
      let opened = try await ScratchStore.open(second, with: .recoveryKey(SecretBytes(text: store.recoveryKey)))
      #expect(opened.text == secret.bytes.text)
    }
  }

  @Test("a login keyring is not changed if the person does not give the passcode for its sealed copy")
  func refusedSealing() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let files = daemon.files
      await #expect(throws: VaultError.interactionNotAllowed) {
        try await KeyringRekeying(daemon.places, in: vault).enable(password: SecretBytes(text: KeyringDaemon.password))
        {
          try await LoginEntries(in: vault).sealedCopy(of: $0, under: .passcodeAndRecoveryKey)
        } opening: {
          try await opening(store)($0)
        }
      }
      #expect(daemon.files == files)
      #expect(try await LoginEntries(in: vault).all().isEmpty)
      #expect(try await daemon.fileOpens(with: KeyringDaemon.password))
    }
  }

  @Test("a login keyring is not changed if its sealed copy does not give the secret back")
  func uselessCopy() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let files = daemon.files
      await #expect(throws: WalletError.copyUnverified) {
        try await KeyringRekeying(daemon.places, in: vault).enable(
          password: SecretBytes(text: KeyringDaemon.password), sealing: sealing(vault)
        ) { _ in SharedSecret(SecretBytes(text: "another secret")) }
      }
      await #expect(throws: VaultError.wrongRecoveryKey) {
        let other = try await ScratchStore()
        try await KeyringRekeying(daemon.places, in: vault).enable(
          password: SecretBytes(text: KeyringDaemon.password), sealing: sealing(vault), opening: opening(other))
      }
      #expect(daemon.files == files)
      #expect(try await LoginEntries(in: vault).all().isEmpty)
      #expect(try await daemon.fileOpens(with: KeyringDaemon.password))
    }
  }

  @Test("a login keyring is not changed if its sealed copy cannot be read back from the file")
  func unreadableCopy() async throws {
    try await KeyringDaemon.with { daemon in
      let store = try await ScratchStore()
      let vault = VaultSession(of: try store.open())
      let files = daemon.files
      let sealed = Mutex<SharedSecret?>(nil)
      await #expect(throws: WalletError.copyUnverified) {
        try await KeyringRekeying(daemon.places, in: vault).enable(password: SecretBytes(text: KeyringDaemon.password))
        { secret in
          let secret = SharedSecret(secret.copy())
          sealed.withLock { $0 = secret }
          let copy = try await LoginEntries(in: vault).sealedCopy(of: secret.bytes, under: .recoveryKey)
          // It opens, but its file is longer than any that is read.
          return SealedCopy(
            under: copy.keys, head: copy.head,
            boxes: copy.boxes + [UInt8](repeating: 0, count: SealedCopy.limit))
        } opening: { _ in
          sealed.withLock { $0 }
        }
      }
      #expect(daemon.files == files)
      #expect(try await LoginEntries(in: vault).all().isEmpty)
      #expect(try await daemon.fileOpens(with: KeyringDaemon.password))
    }
  }
}
