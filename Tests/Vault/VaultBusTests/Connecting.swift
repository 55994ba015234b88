import Glibc
import Presence
import Primitives
import SecretModel
import Synchronization
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultHost
import VaultItems
import VaultStore

/// How a test reaches a vault.
enum Way: String, CaseIterable, Sendable {
  case inProcess = "in process"
  case overSocket = "over a socket"

  /// The connection itself, or a connection to it over a socket pair.
  func connect(to connection: any VaultConnection) throws -> any VaultConnection {
    switch self {
    case .inProcess: return connection
    case .overSocket:
      let (mine, theirs) = try socketPair()
      _ = try VaultBusServer(socket: theirs, connection: connection, onClosed: {})
      return try VaultBusClient(socket: mine)
    }
  }
}

/// Two connected sockets. The caller owns them.
func socketPair() throws -> (Int32, Int32) {
  var pair: [Int32] = [-1, -1]
  try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
  return (pair[0], pair[1])
}

/// A real store with a cheap scrypt, opened in this process.
final class ScratchConnection: VaultConnection {
  let store: ScratchStore
  private let session = Mutex<VaultSession?>(nil)
  private let stores = LocalVaultConnection()

  private let firstUnlock: FirstUnlock
  private let reader: (any FingerprintReader)?

  /// - Parameter firstUnlock: what the first unlock of the store requires.
  init(_ firstUnlock: FirstUnlock = .none) async throws {
    self.firstUnlock = firstUnlock
    store = try await ScratchStore(classKeys: ClassKeys(firstUnlock: firstUnlock))
    reader = nil
  }

  /// Opens a store that exists, with this reader.
  init(to store: ScratchStore, reader: any FingerprintReader) {
    (firstUnlock, self.store, self.reader) = (.none, store, reader)
  }

  var place: StorePlace { StorePlace(directory: store.path) }

  func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    do {
      guard place == self.place else { throw VaultError.storeNotFound("\(place)") }
      let opened = VaultSession(
        of: try store.open(reader: reader, classKeys: ClassKeys(firstUnlock: firstUnlock)))
      session.withLock { $0 = opened }
      return opened
    } catch let error as VaultError {
      throw error
    } catch {
      throw .internalError("\(error)")
    }
  }

  func create(
    _ place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft {
    try await stores.create(place, passcode: passcode, allowsGuessable: allowsGuessable)
  }
  func keep(_ draft: StoreDraft.ID) async throws(VaultError) { try await stores.keep(draft) }
  func rebuildDeviceKey(at place: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError) {
    try await stores.rebuildDeviceKey(at: place, recoveryKey: recoveryKey)
  }
  func openCopy(_ copy: SealedCopy, with opening: consuming SealedCopy.Opening) async throws(VaultError) -> SecretBytes
  {
    try await ScratchStore.open(copy, with: opening)
  }
  func makeStore(
    at place: StorePlace, ofBackup file: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) -> [ItemName] {
    try await stores.makeStore(at: place, ofBackup: file, recoveryKey: recoveryKey)
  }
  func lendReader() async throws(VaultError) -> ReaderSocket { try await stores.lendReader() }
  func walletKey(from password: consuming SecretBytes, salt: [UInt8]) async throws(VaultError) -> SecretBytes {
    try await stores.walletKey(from: password, salt: salt)
  }
  func encryptFile(
    from source: Int32, to target: Int32, for recipient: EncryptedFile.Recipient
  ) async throws(VaultError) {
    try await stores.encryptFile(from: source, to: target, for: recipient)
  }
  func fileKey(of file: Int32, with opening: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes {
    try await stores.fileKey(of: file, with: opening)
  }
  func decryptFile(_ file: Int32, with key: consuming SecretBytes, to target: Int32) async throws(VaultError) {
    try await stores.decryptFile(file, with: key, to: target)
  }
  func wrapFileKey(_ key: consuming SecretBytes, to recipient: AgePublicKey) async throws(VaultError) -> [UInt8] {
    try await stores.wrapFileKey(key, to: recipient)
  }
  func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair { try await stores.makeKeyPair() }
  func close() async {
    await session.withLock { $0 }?.close()
    await stores.close()
  }
}

/// An open store over a connection.
struct OpenScratch: Sendable {
  let scratch: ScratchConnection
  let connection: any VaultConnection
  let vault: any VaultService

  init(_ way: Way, _ firstUnlock: FirstUnlock = .none) async throws {
    scratch = try await ScratchConnection(firstUnlock)
    connection = try way.connect(to: scratch)
    vault = try await connection.open(scratch.place)
  }

  /// Calls the vault in a context of its own while `answer` responds to its questions.
  func asking<T: Sendable>(
    _ options: ContextOptions = ContextOptions(timeout: .seconds(20)),
    answering answer: @escaping @Sendable (SecretRequest) -> String?,
    _ body: @Sendable (Asking) async throws -> T
  ) async throws -> T {
    let (handle, events) = try await vault.openContext(options)
    let vault = vault
    let listener = Task {
      for await event in events {
        guard case .secretWanted(let request) = event.event else { continue }
        if let text = answer(request) {
          await vault.respond(handle, .secret(question: event.number, SecretBytes(text: text)))
        } else {
          await vault.respond(handle, .decline(question: event.number))
        }
      }
    }
    do {
      let value = try await body(Asking(in: handle))
      await vault.closeContext(handle, reason: .program)
      await listener.value
      return value
    } catch {
      await vault.closeContext(handle, reason: .program)
      await listener.value
      throw error
    }
  }

  /// Answers every question for the passcode.
  static let passcode: @Sendable (SecretRequest) -> String? = {
    if case .passcode = $0 { ScratchStore.passcode } else { nil }
  }
}

/// Waits until the condition holds, for at most ten seconds.
func eventually(_ condition: @Sendable () async throws -> Bool) async throws -> Bool {
  for _ in 0..<2_000 {
    if try await condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}

func openDescriptors() throws -> Int {
  let directory = try #require(opendir("/proc/self/fd"))
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count
}
