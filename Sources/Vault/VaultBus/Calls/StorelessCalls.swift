internal import SDBus
internal import SecretModel
internal import SecureMemory

/// Calls that need no store.
extension VaultCall {
  static let storelessCalls = [openCopy, lendReader, walletKey, encryptFile, fileKey, decryptFile, makeKeyPair]

  static let openCopy = VaultCall("OpenCopy", takes: "aysh", gives: "h") { (vault, call) async throws(VaultError) in
    let opening = try SealedCopy.Opening(
      kind: call[1], secret: try SecretBytes(sealed: call[2], limit: NewItem.secretLimit))
    return [try await vault.vaults.openCopy(try SealedCopy(bus: call[0]), with: opening).sealed()]
  }
  static let lendReader = VaultCall("LendReader", gives: "h") { (vault, _) async throws(VaultError) in
    let socket = try await vault.vaults.lendReader()
    return [.descriptor(BusDescriptor(taking: socket.release()))]
  }
  static let walletKey = VaultCall("WalletKey", takes: "hay", gives: "h") { (vault, call) async throws(VaultError) in
    let password = try SecretBytes(sealed: call[0], limit: NewItem.secretLimit)
    guard let salt = call[1].asBytes else { throw .unreadable("a salt") }
    return [try await vault.vaults.walletKey(from: password, salt: salt).sealed()]
  }
  static let encryptFile = VaultCall("EncryptFile", takes: "hhayah") { (vault, call) async throws(VaultError) in
    let recipient = try EncryptedFile.Recipient(publicKey: call[2], passphrase: call[3])
    try await vault.vaults.encryptFile(from: call[0].asFile, to: call[1].asFile, for: recipient)
    return []
  }
  static let fileKey = VaultCall("FileKey", takes: "hsh", gives: "h") { (vault, call) async throws(VaultError) in
    let opening = try EncryptedFile.Opening(
      kind: call[1], secret: try SecretBytes(sealed: call[2], limit: NewItem.secretLimit))
    return [try await vault.vaults.fileKey(of: call[0].asFile, with: opening).sealed()]
  }
  static let decryptFile = VaultCall("DecryptFile", takes: "hhh") { (vault, call) async throws(VaultError) in
    let key = try SecretBytes(sealed: call[1], limit: EncryptedFile.keyCount)
    try await vault.vaults.decryptFile(call[0].asFile, with: key, to: call[2].asFile)
    return []
  }
  static let makeKeyPair = VaultCall("MakeKeyPair", gives: "hay") { (vault, _) async throws(VaultError) in
    let pair = try await vault.vaults.makeKeyPair()
    return [try pair.privateKey.bytes.sealed(), .bytes(pair.publicKey.bytes)]
  }
}
