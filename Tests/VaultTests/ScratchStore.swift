import Fingerprint
import Glibc
import Keys
import ReaderClient
import SecureMemory
import Testing

@testable import Vault

/// A store in a folder of its own, with a cheap scrypt, gone when the test is over.
final class ScratchStore: Sendable {
  static let passcode = "correct horse"

  let folder: String
  let path: String
  let recoveryKey: String

  init(passcode: String? = ScratchStore.passcode) async throws {
    var template = Array("/tmp/whorl-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    path = folder + "/store"
    let secret: SecretBytes? = if let passcode { SecretBytes(text: passcode) } else { nil }
    recoveryKey = try await Vault.create(at: path, passcode: secret, floor: .weakForTests).text
  }

  deinit { Self.remove(folder) }

  /// Opens the store. Without a reader of its own, any request for a finger finds none.
  func open(
    reader: (any FingerprintReader)? = nil, holdsReader: Bool = false, clock: BootClock = .system
  ) throws -> Vault {
    try Vault(
      at: path, reader: reader ?? ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic),
      holdsReader: holdsReader, clock: clock, floor: .weakForTests)
  }

  /// Copies the store's files, as somebody would who wants to put them back later.
  func snapshot() throws -> String {
    let copy = folder + "/copy-\(UInt64.random(in: 0...UInt64.max))"
    try Self.run("/bin/cp", ["-a", path, copy])
    return copy
  }

  /// Puts the named files of a snapshot back, and deletes those the snapshot does not have.
  func restore(_ files: [String], from copy: String) throws {
    for file in files {
      unlink(path + "/" + file)
      if access(copy + "/" + file, F_OK) == 0 { try Self.run("/bin/cp", ["-a", copy + "/" + file, path + "/" + file]) }
    }
  }

  static func run(_ program: String, _ arguments: [String]) throws {
    var pid = pid_t()
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    try #require(posix_spawn(&pid, program, nil, nil, &words, environ) == 0)
    var status: CInt = 0
    waitpid(pid, &status, 0)
    try #require(status == 0, "\(program) \(arguments)")
  }

  private static func remove(_ folder: String) {
    try? run("/bin/rm", ["-rf", folder])
  }
}

extension SecretBytes {
  init(text: String) {
    self.init(copying: Array(text.utf8).span)
  }

  var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension ReleasedItem {
  var text: String { secret.text }
}
