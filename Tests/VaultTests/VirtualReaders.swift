import Fingerprint
import Glibc
import ReaderClient
import Testing
import VirtualFinger

@testable import Vault

/// The built `whorl-reader`, which lies beside the test runner.
enum ReaderBuild {
  static let program: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let runner = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = runner.split(separator: "/").dropLast().joined(separator: "/")
    // `swift test` runs a helper of the toolchain; the products are where the test bundle is.
    for argument in CommandLine.arguments + [runner] where argument.contains(".xctest") {
      let products = argument.split(separator: "/").dropLast().joined(separator: "/")
      if access("/\(products)/whorl-reader", X_OK) == 0 { return "/\(products)/whorl-reader" }
    }
    return "/\(folder)/whorl-reader"
  }()
}

/// A store with libfprint's virtual image reader, in a process of its own, and fingers to press on it.
struct ImageReaderStore {
  let store: ScratchStore
  let socket: String

  init(passcode: String? = ScratchStore.passcode) async throws {
    store = try await ScratchStore(passcode: passcode)
    socket = store.folder + "/image.socket"
  }

  var process: ReaderProcess {
    ReaderProcess(program: ReaderBuild.program, selection: .virtualImage(socket: socket))
  }

  func press(_ finger: Finger, person: Int = 1, _ impression: UInt64 = .random(in: 1...1_000_000))
    -> @Sendable () async throws -> Void
  {
    { [socket] in
      try VirtualImageReader(socket: socket).press(
        SyntheticFinger(person: person, finger: finger).impression(impression))
    }
  }

  func retry() -> @Sendable () async throws -> Void {
    { [socket] in try VirtualImageReader(socket: socket).retry(.general) }
  }

  /// Enrols a finger: five stages and the confirming touch.
  func enroll(_ finger: Finger, in vault: Vault, passcode: String = ScratchStore.passcode) async throws -> SetChange {
    let person = Person(
      passcodes: [passcode], touches: (1...6).map { press(finger, UInt64($0)) })
    return try await person.with(vault) { try await vault.enroll(finger, in: $0) }
  }
}

/// Forwards to a real reader and lets a test act, or lie, between its answer and the vault.
struct InterposedReader: FingerprintReader {
  let real: any FingerprintReader
  var describing: @Sendable (ReaderDescription) -> ReaderDescription = { $0 }
  var beforeAnswer: @Sendable (ScanAnswer) async throws(ReaderError) -> ScanAnswer = { $0 }

  func readers() async throws(ReaderError) -> [ReaderDescription] { try await real.readers().map { describing($0) } }
  func open(_ id: String) async throws(ReaderError) -> ReaderDescription { describing(try await real.open(id)) }
  func close() async throws(ReaderError) { try await real.close() }
  func enroll(observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await real.enroll(observer: observer)
  }
  func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await beforeAnswer(try await real.identify(prints, nonce: nonce, observer: observer))
  }
  func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await real.verify(print, nonce: nonce, observer: observer)
  }
  func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    try await real.storedPrints(knowing: prints)
  }
  func delete(_ template: Template) async throws(ReaderError) { try await real.delete(template) }
  func clearStorage() async throws(ReaderError) { try await real.clearStorage() }
  func suspend() async throws(ReaderError) { try await real.suspend() }
  func resume() async throws(ReaderError) { try await real.resume() }
  func shutdown() async { await real.shutdown() }
}
