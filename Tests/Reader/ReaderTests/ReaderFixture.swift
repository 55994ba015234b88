import Glibc
import Primitives
import Processes
import ProgramDriver
import ReaderClient
import Synchronization
import Testing
import VirtualFinger

/// A virtual reader in its own process, with its socket in a temporary folder.
struct VirtualReader {
  enum Kind: Sendable { case image, storage }

  let kind: Kind
  let socket: String
  let process: ReaderProcess
  let systemBus: String?

  /// The driver of a `.storage` reader.
  var storage: VirtualStorageReader { VirtualStorageReader(socket: socket) }
  /// The driver of an `.image` reader.
  var image: VirtualImageReader { VirtualImageReader(socket: socket) }

  /// Runs the body with a reader that has not been used yet.
  static func with<Value>(
    _ kind: Kind, showsDiagnostics: Bool = true, systemBus: String? = nil, _ body: (VirtualReader) async throws -> Value
  ) async throws -> Value {
    let program = try readerProgram()
    return try await withTemporaryFolder { folder in
      let socket = "\(folder)/reader"
      let selection: ReaderSelection =
        kind == .image ? .virtualImage(socket: socket) : .virtualStorage(socket: socket)
      let process = ReaderProcess(
        program: program, selection: selection, showsDiagnostics: showsDiagnostics, systemBus: systemBus)
      do {
        let value = try await body(VirtualReader(kind: kind, socket: socket, process: process, systemBus: systemBus))
        await process.shutdown()
        return value
      } catch {
        await process.shutdown()
        throw error
      }
    }
  }

  /// Opens the only reader.
  @discardableResult
  func open() async throws -> ReaderDescription {
    let readers = try await process.readers()
    return try await process.open(try #require(readers.first).id)
  }
}

/// The `whorl-reader` that was built with the tests.
func readerProgram() throws -> String {
  try #require(HelperPlaces.reader.locate(), "whorl-reader lies beside the test runner when all products are built")
}

func withTemporaryFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
  var template = Array("/tmp/whorl-reader-XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer {
    unlink("\(folder)/reader")
    rmdir(folder)
  }
  return try await body(folder)
}

/// The events of a scan.
final class EventLog: Sendable {
  private let storage = Mutex<[ScanEvent]>([])

  var events: [ScanEvent] { storage.withLock { $0 } }

  /// The observer to pass to a reader.
  var observe: ScanObserver {
    { event in self.storage.withLock { $0.append(event) } }
  }

  /// Waits until the event has occurred `count` times.
  func wait(for event: ScanEvent, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let came = try await eventually { events.count { $0 == event } >= count }
    try #require(came, "\(event) did not come; there were \(events)", sourceLocation: sourceLocation)
  }
}

func nonce(_ byte: UInt8) -> ScanNonce { ScanNonce(bytes: Array(repeating: byte, count: 16)) }

func enrolled(_ template: Template, _ byte: UInt8 = 1) -> EnrolledPrint {
  EnrolledPrint(id: EnrolmentID(bytes: Array(repeating: byte, count: 16)), template: template)
}

/// The error that the operation throws. Nil if it throws none.
func readerError<Value>(_ operation: () async throws -> Value) async -> ReaderError? {
  do {
    _ = try await operation()
    return nil
  } catch let error as ReaderError {
    return error
  } catch {
    Issue.record("threw \(error), which is no reader's error")
    return nil
  }
}

/// Waits until the condition holds, for ten seconds at most.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<2_000 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}

func openDescriptors() throws -> Int {
  let folder = try #require(opendir("/proc/self/fd"))
  defer { closedir(folder) }
  var count = 0
  while readdir(folder) != nil { count += 1 }
  return count
}

/// A generator with a seed, so that a failure can be reproduced.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
