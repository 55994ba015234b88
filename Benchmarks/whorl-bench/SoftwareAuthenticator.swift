import Glibc

/// An authenticator in software that keeps its keys in its own memory and asks nobody: `soft-webauthn` of PyPI. It signs in a
/// process of its own, which says how long each assertion took.
final class SoftwareAuthenticator {
  static let name = "soft-webauthn"

  private static let program = """
    import sys, time
    from soft_webauthn import SoftWebauthnDevice
    device = SoftWebauthnDevice()
    device.cred_init("example.com", b"alice")
    options = {"publicKey": {"rpId": "example.com", "challenge": b"7" * 32}}
    for line in sys.stdin:
      start = time.perf_counter_ns()
      device.get(options, "https://example.com")
      print(time.perf_counter_ns() - start, flush=True)
    """

  private let connection: UnsafeMutablePointer<FILE>

  /// Nil, with a line for people, where the folder has no environment of Python with it in `python`.
  init?(in folder: String) throws {
    let python = "\(folder)/python/bin/python3"
    guard access(python, X_OK) == 0 else {
      print("without \(Self.name), which is not in \(folder)/python")
      return nil
    }
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw BenchFailure("no sockets")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    let arguments: [String] = [python, "-c", Self.program]
    // The copies made by strdup are freed below.
    let words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, python, &actions, nil, words, environ) == 0, let file = fdopen(ends[0], "r+") else {
      throw BenchFailure("cannot start \(python)")
    }
    close(ends[1])
    connection = file
    _ = try assertion()
  }

  deinit { fclose(connection) }

  /// The nanoseconds of one assertion.
  func assertion() throws -> UInt64 {
    var line = [CChar](repeating: 0, count: 64)
    guard write(fileno(connection), "\n", 1) == 1, fgets(&line, Int32(line.count), connection) != nil,
      let nanoseconds = UInt64(String(decoding: line.prefix { $0 > 32 }.map { UInt8($0) }, as: UTF8.self))
    else { throw BenchFailure("\(Self.name) does not answer") }
    return nanoseconds
  }
}
