import Glibc
import Keys
package import Presence
package import Primitives
import ReaderClient
package import Vault
package import VaultStore

/// A store in a folder of its own, with a cheap scrypt, removed after the test.
package final class ScratchStore: Sendable {
  package static let passcode = "correct horse"

  package let owner: UInt32
  package let folder: String
  package let path: String
  package let recoveryKey: String

  /// - Parameters:
  ///   - owner: the owner of the store.
  ///   - classKeys: says what the first unlock of the store requires.
  ///   - storage: where the key of the device slot is kept.
  ///   - isInMemory: whether it is made where nothing waits for a disk.
  package init(
    passcode: String? = ScratchStore.passcode, owner: UInt32 = geteuid(), classKeys: ClassKeys = ClassKeys(),
    storage: RootStorage = .keyFile, isInMemory: Bool = false
  ) async throws {
    self.owner = owner
    folder = try Self.makeFolder(inMemory: isInMemory)
    path = folder + "/store"
    let secret: SecretBytes? = if let passcode { SecretBytes(text: passcode) } else { nil }
    let (new, draft) = try await StoreCreation.newStore(
      at: path, passcode: secret, owner: owner, floor: .weakForTests, classKeys: classKeys,
      storage: storage)
    try new.keep()
    recoveryKey = draft.recoveryKey.text
  }

  /// A copy, in memory, of a store that is closed.
  package init(copyOf original: ScratchStore) throws {
    (owner, recoveryKey) = (original.owner, original.recoveryKey)
    folder = try Self.makeFolder(inMemory: true)
    path = folder + "/store"
    try Self.run("/bin/cp", ["-a", original.path, path])
  }

  deinit { Self.remove(folder) }

  private static func makeFolder(inMemory: Bool) throws -> String {
    let memory = "/dev/shm"
    let place = inMemory && access(memory, W_OK) == 0 ? memory : "/tmp"
    var template = Array("\(place)/whorl-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failed(what: "no folder") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Opens the store. Without a reader, requests for a finger fail.
  ///
  /// - Parameters:
  ///   - runtimeFolder: the folder of the readers' locks; by default the store's own, so that parallel tests do not
  ///     wait for each other.
  ///   - desk: a desk shared with other vaults; by default the vault gets one of its own.
  package func open(
    reader: (any FingerprintReader)? = nil, holdsReader: Bool = false, clock: BootClock = .system,
    touchClock: @escaping @Sendable () -> UInt64 = ScanClock.now, runtimeFolder: String? = nil,
    gate: any SessionGate = NoSessionGate(), arming: ArmingPolicy = .atOnce, classKeys: ClassKeys = ClassKeys(),
    desk: ReaderDesk? = nil, storage: RootStorage = .keyFile
  ) throws -> Vault {
    let own = ReaderDesk(
      reader ?? ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic), holdsReader: holdsReader,
      locks: ReaderLocks(runtimeFolder: runtimeFolder ?? folder))
    return try Vault(
      at: path, desk: desk ?? own, owner: owner, clock: clock, touchClock: touchClock, floor: .weakForTests, gate: gate,
      arming: arming, classKeys: classKeys, storage: storage)
  }

  /// Copies the store's files, to be put back later.
  package func snapshot() throws -> String {
    let copy = folder + "/copy-\(UInt64.random(in: 0...UInt64.max))"
    try Self.run("/bin/cp", ["-a", path, copy])
    return copy
  }

  /// Puts the named files of a snapshot back, and deletes those the snapshot does not have.
  package func restore(_ files: [String], from copy: String) throws {
    for file in files {
      unlink(path + "/" + file)
      if access(copy + "/" + file, F_OK) == 0 { try Self.run("/bin/cp", ["-a", copy + "/" + file, path + "/" + file]) }
    }
  }

  /// The secret of a sealed copy made by such a store.
  package static func open(
    _ copy: SealedCopy, with opening: consuming SealedCopy.Opening
  ) async throws(VaultError) -> SecretBytes {
    try await copy.open(with: opening, user: geteuid(), floor: .weakForTests)
  }

  /// The bytes of a file.
  package static func contents(of path: String) throws -> [UInt8] {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failed(what: path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
    return bytes
  }

  package static func run(_ program: String, _ arguments: [String]) throws {
    var pid = pid_t()
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    guard posix_spawn(&pid, program, nil, nil, &words, environ) == 0 else { throw Failed(what: program) }
    var status: CInt = 0
    waitpid(pid, &status, 0)
    guard status == 0 else { throw Failed(what: "\(program) \(arguments): \(status)") }
  }

  private struct Failed: Error {
    var what: String
  }

  private static func remove(_ folder: String) {
    try? run("/bin/rm", ["-rf", folder])
  }
}

extension SecretBytes {
  package init(text: String) {
    self.init(copying: Array(text.utf8).span)
  }

  package var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension ReleasedItem {
  package var text: String { secret.text }
}
