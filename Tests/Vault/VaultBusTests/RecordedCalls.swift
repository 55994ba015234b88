import Glibc
import Primitives
import SDBus
import SecretModel
import VaultBus
import VaultDriver

/// The calls of the interface as the client sends them, without their numbers. Random calls start from these.
struct RecordedCalls: Sendable {
  private(set) var all: [(member: String, arguments: [BusValue])] = []

  /// The placeholder for the ids of a context, an item and a draft in the recorded calls.
  static let identifier: [UInt8] = Array(repeating: 7, count: 16)

  init() async throws {
    let calls = HeldCalls()
    let raw = try RawVault { call in
      calls.append(call)
      switch call.member {
      case "OpenContext": call.answer([.bytes(Self.identifier)])
      case "Respond", "SetApplicationPassword", "CloseContext": call.answer()
      default: call.fail("\(VaultInterface.errorPrefix)ItemGone", "")
      }
    }
    try await Self.callEverything(raw)
    all = calls.all.map { ($0.member, Array($0.arguments.dropFirst())) }
  }

  private static func callEverything(_ raw: RawVault) async throws {
    let vault = try await raw.open()
    let (handle, _) = try await vault.openContext(ContextOptions(timeout: .seconds(1)))
    let asking = Asking(in: handle, options: ContextOptions(timeout: .seconds(1)), reason: "a test")
    let name = try ItemName(service: "service", account: "account")
    let id = ItemID(bytes: identifier)
    let search = ItemSearch(.genericPassword, [.account: .text("account")])
    let item = NewItem(
      .genericPassword, [.service: .text("service"), .account: .text("account")],
      access: try AccessControl([.userPresence]))
    func secret() -> SecretBytes { SecretBytes(text: "secret") }

    _ = try? await vault.items(search, asking)
    _ = try? await vault.secrets(.search(search), asking)
    _ = try? await vault.secrets(.ids([id]), asking)
    _ = try? await vault.secrets(.names([name]), .nobody)
    _ = try? await vault.secrets(of: [id, id], upTo: 100, asking)
    _ = try? await vault.authorize([id], asking)
    _ = try? await vault.found(["name": "value"], in: "login", after: ItemCursor(bytes: identifier))
    _ = try? await vault.add([ItemToAdd(item, secret: SharedSecret(secret()))])
    _ = try? await vault.add(item, secret: secret(), replacing: true, asking)
    let change = ItemChange(attributes: [.label: .text("label")])
    _ = try? await vault.update(.names([name]), change, secret: secret(), asking)
    _ = try? await vault.delete(.search(search))
    _ = try? await vault.sealCopy(of: secret(), under: .passcodeAndRecoveryKey, replacing: nil, asking)
    _ = try? await vault.useKey(id, .sign([1, 2], .ecdsa(.sha256, .message, .x962)), asking)
    _ = try? await vault.useKey(id, .export, asking)
    _ = try? await vault.addKey(item, from: .generated(.ed25519))
    _ = try? await vault.addKey(item, from: .ssh(SharedSecret(secret())))
    _ = try? await vault.addKey(item, from: .passkey(SharedSecret(secret())))
    let hash = [UInt8](repeating: 3, count: 32)
    let user = Passkey.User(handle: [1], name: "alice", displayName: "Alice")
    _ = try? await vault.passkeyReadiness()
    _ = try? await vault.makePasskey(
      NewPasskey(relyingParty: "example.com", user: user, isDiscoverable: true, clientDataHash: hash), asking)
    let request = PasskeySecretRequest(
      encryption: .protocolTwo, key: SharedSecret(secret()), salts: SharedSecret(secret()))
    _ = try? await vault.assertPasskeys(
      [id, id], PasskeyAssertion(clientDataHash: hash, secretRequest: request), asking)
    try await callAboutOtherMachines(vault.sync, asking)
    _ = try? await vault.evaluate(.policy(.deviceOwner), asking)
    _ = try? await vault.evaluate(.access(try AccessControl([.devicePasscode])), asking)
    _ = try? await vault.biometry()
    _ = try? await vault.presentSets()
    _ = try? await vault.enroll(.rightIndex, asking)
    _ = try? await vault.unenroll(nil, asking)
    _ = try? await vault.losses(.passcode)
    try? await vault.unlock(asking)
    try? await vault.lock()
    try? await vault.changePasscode(asking)
    try? await vault.reseal(to: [7], asking)
    try? await vault.setFirstUnlock(.passcode, asking)
    _ = try? await vault.removePasscode(asking)
    _ = try? await vault.recover(accepting: nil, asking)
    _ = try? await vault.draftRecoveryKey()
    try? await vault.keepRecoveryKey(asking)
    _ = try? await vault.detectedRestore()
    _ = try? await vault.acceptRestore(DetectedRestore.ID(digest: identifier), asking)
    let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
    try? await vault.backUp(to: nowhere)
    _ = try? await vault.contents(ofBackup: nowhere)
    _ = try? await vault.restore(nowhere, accepting: BackupContents.ID(digest: identifier), asking)
    _ = try? await raw.client.makeStore(at: .own, ofBackup: nowhere, recoveryKey: secret())
    close(nowhere)
    try? await vault.useAdapter(.libfprint, asking)
    _ = try? await vault.readers()
    _ = try? await vault.status()
    _ = try? await vault.openClasses()
    _ = try? await vault.unlockChange(from: true)
    _ = try? await vault.surroundings(otherThan: Surroundings(changes: 1, locks: 1, refusal: .locked))
    _ = try? await vault.problems()
    _ = try? await vault.log(AuditSearch())
    try? await raw.client.keep(StoreDraft.ID(bytes: identifier))
    _ = try? await raw.client.walletKey(from: secret(), salt: Array(repeating: 1, count: 56))
    // Placeholders for descriptors, which random ones replace.
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    try? await raw.client.encryptFile(from: null, to: null, for: .passphrase(SharedSecret(secret())))
    _ = try? await raw.client.fileKey(of: null, with: .privateKey(SharedSecret(secret())))
    try? await raw.client.decryptFile(null, with: SecretBytes(count: EncryptedFile.keyCount), to: null)
    close(null)
    if let recipient = AgePublicKey(bytes: [UInt8](repeating: 9, count: AgePublicKey.byteCount)) {
      _ = try? await raw.client.wrapFileKey(SecretBytes(count: EncryptedFile.keyCount), to: recipient)
    }
    _ = try? await raw.client.makeKeyPair()
    await vault.setApplicationPassword(secret(), of: handle)
    await vault.respond(handle, .secret(question: 1, secret()))
    await vault.respond(handle, .fallback)
    await vault.closeContext(handle, reason: .program)
  }

  private static func callAboutOtherMachines(_ sync: any SyncService, _ asking: Asking) async throws {
    let files = [
      SyncFile("format", Array("whorl-sync 2\n".utf8)), SyncFile("circle/00000001", [1, 2]), SyncFile("x", nil),
    ]
    _ = try? await sync.status()
    try? await sync.begin(.new(machine: "desk"), asking)
    try? await sync.begin(.join(machine: "lap", records: files), asking)
    try? await sync.recover(machine: "lap", records: files, recoveryKey: SecretBytes(text: "secret"), asking)
    _ = try? await sync.identity(records: files, recoveryKey: SecretBytes(text: "secret"))
    _ = try? await sync.receive(files, isLast: true)
    _ = try? await sync.files(after: nil, puttingBack: false)
    try? await sync.change(.leave, asking)
    try? await sync.resolve(.bind(try ItemName(service: "service", account: "account")), asking)
    _ = try? await sync.change(from: 1)
  }
}
