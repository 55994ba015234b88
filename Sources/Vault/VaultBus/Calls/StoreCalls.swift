internal import Glibc
package import Primitives
internal import SDBus
package import SecretModel

/// Calls that open, make and rebuild stores.
extension Calls {
  static let stores = [open.call, create.call, keep.call, rebuildDeviceKey.call, makeStoreOfBackup.call]

  static let open = Call("Open") { (vault: isolated Served, place: StorePlace) async throws(VaultError) in
    try await vault.open(place)
  }
  // Not marked as a change: a new store that was not kept is removed when its connection ends.
  static let create = Call("Create") {
    (vault: isolated Served, place: StorePlace, passcode: [BusFile], allowsGuessable: Bool) async throws(VaultError) in
    let draft = try await vault.vaults.create(
      place, passcode: try SecretBytes.optional(sealed: passcode), allowsGuessable: allowsGuessable)
    return Both(draft.id, try draft.recoveryKey.sealed())
  }
  static let keep = Call("Keep", isChange: true) {
    (vault: isolated Served, id: StoreDraft.ID) async throws(VaultError) in
    try await vault.vaults.keep(id)
  }
  static let rebuildDeviceKey = Call("RebuildDeviceKey", isChange: true) {
    (vault: isolated Served, place: StorePlace, recoveryKey: BusFile) async throws(VaultError) in
    try await vault.vaults.rebuildDeviceKey(at: place, recoveryKey: try SecretBytes(sealed: recoveryKey))
  }
  static let makeStoreOfBackup = Call("MakeStoreOfBackup", isChange: true) {
    (vault: isolated Served, place: StorePlace, backup: BusFile, recoveryKey: BusFile) async throws(VaultError) in
    try await vault.vaults.makeStore(
      at: place, ofBackup: backup.rawValue, recoveryKey: try SecretBytes(sealed: recoveryKey))
  }
}

extension VaultBusClient {
  /// Sends the call right after the hello, without waiting for its answer: the call changes nothing, and its result is
  /// used only after the hello was answered.
  package func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    do throws(VaultError) {
      try await wire(Calls.open, place)
    } catch {
      try await greeted()
      throw error
    }
    try await greeted()
    return RemoteVault(wire)
  }

  package func create(
    _ place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft {
    let passcode = try SecretBytes.sealed(passcode)
    try await greeted()
    let draft = try await wire(Calls.create, place, passcode, allowsGuessable)
    let key = try wire.reading(Calls.create.call) { try SecretBytes(sealed: draft.second) }
    return StoreDraft(id: draft.first, recoveryKey: key)
  }

  package func keep(_ draft: StoreDraft.ID) async throws(VaultError) {
    try await greeted()
    try await wire(Calls.keep, draft)
  }

  package func rebuildDeviceKey(
    at place: StorePlace, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) {
    let recoveryKey = try recoveryKey.sealed()
    try await greeted()
    try await wire(Calls.rebuildDeviceKey, place, recoveryKey)
  }

  package func makeStore(
    at place: StorePlace, ofBackup file: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) -> [ItemName] {
    let (backup, recoveryKey) = (try BusFile(copying: file), try recoveryKey.sealed())
    try await greeted()
    return try await wire(Calls.makeStoreOfBackup, place, backup, recoveryKey)
  }
}

/// Calls that need no store.
extension Calls {
  static let withoutStore = [
    openCopy.call, lendReader.call, walletKey.call, encryptFile.call, fileKey.call, decryptFile.call,
    wrapFileKey.call, makeKeyPair.call,
  ]

  static let openCopy = Call("OpenCopy") {
    (vault: isolated Served, copy: SealedCopy, opening: OpeningOfCopy) async throws(VaultError) in
    try await vault.vaults.openCopy(copy, with: try opening.opening()).sealed()
  }
  static let lendReader = Call("LendReader") { (vault: isolated Served) async throws(VaultError) in
    BusFile(BusDescriptor(taking: try await vault.vaults.lendReader().release()))
  }
  static let walletKey = Call("WalletKey") {
    (vault: isolated Served, password: BusFile, salt: [UInt8]) async throws(VaultError) in
    try await vault.vaults.walletKey(from: try SecretBytes(sealed: password), salt: salt).sealed()
  }
  static let encryptFile = Call("EncryptFile") {
    (vault: isolated Served, source: BusFile, target: BusFile, recipient: EncryptedFile.Recipient)
      async throws(VaultError) in
    try await vault.vaults.encryptFile(from: source.rawValue, to: target.rawValue, for: recipient)
  }
  static let fileKey = Call("FileKey") {
    (vault: isolated Served, file: BusFile, opening: EncryptedFile.Opening) async throws(VaultError) in
    try await vault.vaults.fileKey(of: file.rawValue, with: opening).sealed()
  }
  static let decryptFile = Call("DecryptFile") {
    (vault: isolated Served, file: BusFile, key: BusFile, target: BusFile) async throws(VaultError) in
    let key = try SecretBytes(sealed: key, limit: EncryptedFile.keyCount)
    try await vault.vaults.decryptFile(file.rawValue, with: key, to: target.rawValue)
  }
  static let wrapFileKey = Call("WrapFileKey") {
    (vault: isolated Served, key: BusFile, recipient: [UInt8]) async throws(VaultError) in
    guard let recipient = AgePublicKey(bytes: recipient) else { throw .invalidRequest("a public key has 32 bytes") }
    let key = try SecretBytes(sealed: key, limit: EncryptedFile.keyCount)
    return try await vault.vaults.wrapFileKey(key, to: recipient)
  }
  static let makeKeyPair = Call("MakeKeyPair") { (vault: isolated Served) async throws(VaultError) in
    let pair = try await vault.vaults.makeKeyPair()
    return Both(try pair.privateKey.bytes.sealed(), pair.publicKey.bytes)
  }
}

extension VaultBusClient {
  package func openCopy(
    _ copy: SealedCopy, with opening: consuming SealedCopy.Opening
  ) async throws(VaultError) -> SecretBytes {
    let opening = try OpeningOfCopy(opening)
    try await greeted()
    return try await wire.secret(Calls.openCopy, copy, opening)
  }

  package func lendReader() async throws(VaultError) -> ReaderSocket {
    try await greeted()
    let socket = try await wire(Calls.lendReader)
    // The message closes its own descriptor.
    let copy = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .inputOutput("the socket of a reader: \(String(cString: strerror(errno)))") }
    return ReaderSocket(taking: copy)
  }

  package func walletKey(
    from password: consuming SecretBytes, salt: [UInt8]
  ) async throws(VaultError) -> SecretBytes {
    let password = try password.sealed()
    try await greeted()
    return try await wire.secret(Calls.walletKey, password, salt, limit: WalletKey.byteCount)
  }

  package func encryptFile(
    from source: Int32, to target: Int32, for recipient: EncryptedFile.Recipient
  ) async throws(VaultError) {
    let (source, target) = (try BusFile(copying: source), try BusFile(copying: target))
    try await greeted()
    try await wire(Calls.encryptFile, source, target, recipient)
  }

  package func fileKey(of file: Int32, with opening: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes {
    let file = try BusFile(copying: file)
    try await greeted()
    return try await wire.secret(Calls.fileKey, file, opening, limit: EncryptedFile.keyCount)
  }

  package func decryptFile(
    _ file: Int32, with key: consuming SecretBytes, to target: Int32
  ) async throws(VaultError) {
    let (file, key, target) = (try BusFile(copying: file), try key.sealed(), try BusFile(copying: target))
    try await greeted()
    try await wire(Calls.decryptFile, file, key, target)
  }

  package func wrapFileKey(
    _ key: consuming SecretBytes, to recipient: AgePublicKey
  ) async throws(VaultError) -> [UInt8] {
    let key = try key.sealed()
    try await greeted()
    return try await wire(Calls.wrapFileKey, key, recipient.bytes)
  }

  package func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair {
    try await greeted()
    let pair = try await wire(Calls.makeKeyPair)
    return try wire.reading(Calls.makeKeyPair.call) {
      guard let publicKey = AgePublicKey(bytes: pair.second) else {
        throw BusValueError.unreadable(what: "a public key")
      }
      let privateKey = try SecretBytes(sealed: pair.first, limit: AgePublicKey.byteCount)
      return EncryptedFile.KeyPair(privateKey: SharedSecret(privateKey), publicKey: publicKey)
    }
  }
}
