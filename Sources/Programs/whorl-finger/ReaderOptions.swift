public import ArgumentParser
internal import Glibc
public import Primitives
internal import VirtualFinger

extension Finger: ExpressibleByArgument {}
extension RetryReason: ExpressibleByArgument {}

/// Options that select the reader and how long to wait for it.
struct ReaderOptions: ParsableArguments {
  enum Kind: Sendable {
    case image
    case storage
  }

  @Option(
    help: """
      Where the reader listens: the path, or what Whorl was given as --reader (virtual-image:PATH or \
      virtual-storage:PATH). A path alone is an image reader's, except for `scan`.
      """)
  var socket: String
  @Option(help: "Seconds to wait for the reader to be opened and to ask for a finger.")
  var wait: Double = 10

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait takes 0 to 86400 seconds.") }
    guard !path.isEmpty else { throw ValidationError("--socket takes a path.") }
  }

  var kind: Kind {
    if case .virtualStorage = ReaderSelection(socket) { .storage } else { .image }
  }

  var path: String {
    switch ReaderSelection(socket) {
    case .virtualImage(let path), .virtualStorage(let path): path
    default: socket
    }
  }

  var patience: Duration { .seconds(wait) }
}

/// Reports an error in one line and exits with its status.
func reportingFailures(_ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as VirtualReaderError {
    let status: Int32 =
      switch error {
      case .noReader: 69
      case .replaced, .notTaken: 75
      case .pathTooLong: 64
      case .system: 70
      }
    try fail("\(error)", status)
  } catch let error as ImageFileError {
    try fail("\(error)", 74)
  }
}

private func fail(_ line: String, _ status: Int32) throws {
  let text = Array("whorl-finger: \(line)\n".utf8)
  // write: reads from the buffer during the call only.
  _ = write(STDERR_FILENO, text, text.count)
  throw ExitCode(status)
}

/// Blocks this thread.
func pause(milliseconds: Int) {
  usleep(UInt32(clamping: milliseconds) &* 1000)
}
