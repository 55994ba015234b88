package import Fingerprint
import Glibc
package import ReaderClient
package import Vault
import VirtualFinger

/// The built `whorl-reader`, which lies beside the test runner.
package enum ReaderBuild {
  package static let program: String = {
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
package struct ImageReaderStore {
  package let store: ScratchStore
  package let socket: String

  package init(passcode: String? = ScratchStore.passcode) async throws {
    store = try await ScratchStore(passcode: passcode)
    socket = store.folder + "/image.socket"
  }

  package var process: ReaderProcess {
    ReaderProcess(program: ReaderBuild.program, selection: .virtualImage(socket: socket))
  }

  package func press(_ finger: Finger, person: Int = 1, _ impression: UInt64 = .random(in: 1...1_000_000))
    -> @Sendable () async throws -> Void
  {
    { [socket] in
      try VirtualImageReader(socket: socket).press(
        SyntheticFinger(person: person, finger: finger).impression(impression))
    }
  }

  package func retry() -> @Sendable () async throws -> Void {
    { [socket] in try VirtualImageReader(socket: socket).retry(.general) }
  }

  /// Enrols a finger: five stages and the confirming touch.
  package func enroll(_ finger: Finger, in vault: Vault, passcode: String = ScratchStore.passcode) async throws
    -> SetChange
  {
    let person = Person(
      passcodes: [passcode], touches: (1...6).map { press(finger, UInt64($0)) })
    return try await person.with(vault) { try await vault.enroll(finger, in: $0) }
  }
}

/// Forwards to a real reader and lets a test act, or lie, between its answer and the vault.
package struct InterposedReader: FingerprintReader {
  package let real: any FingerprintReader
  package let describing: @Sendable (ReaderDescription) -> ReaderDescription
  package let listing: @Sendable (ChipList) -> ChipList
  package let beforeAnswer: @Sendable (ScanAnswer) async throws(ReaderError) -> ScanAnswer

  package init(
    real: any FingerprintReader, describing: @escaping @Sendable (ReaderDescription) -> ReaderDescription = { $0 },
    listing: @escaping @Sendable (ChipList) -> ChipList = { $0 },
    beforeAnswer: @escaping @Sendable (ScanAnswer) async throws(ReaderError) -> ScanAnswer = { $0 }
  ) {
    (self.real, self.describing, self.listing, self.beforeAnswer) = (real, describing, listing, beforeAnswer)
  }

  /// A reader that says of itself that it is a physical one, as the machine's own fprintd does of its readers.
  package static func physical(_ real: any FingerprintReader) -> InterposedReader {
    InterposedReader(
      real: real,
      describing: { description in
        var description = description
        description.nature = .physical
        return description
      })
  }

  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    try await real.readers().map { describing($0) }
  }
  package func open(_ id: String) async throws(ReaderError) -> ReaderDescription {
    describing(try await real.open(id))
  }
  package func close() async throws(ReaderError) { try await real.close() }
  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await real.enroll(as: finger, observer: observer)
  }
  package func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await beforeAnswer(try await real.identify(prints, nonce: nonce, observer: observer))
  }
  package func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await real.verify(print, nonce: nonce, observer: observer)
  }
  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    listing(try await real.storedPrints(knowing: prints))
  }
  package func delete(_ template: Template) async throws(ReaderError) { try await real.delete(template) }
  package func clearStorage() async throws(ReaderError) { try await real.clearStorage() }
  package func suspend() async throws(ReaderError) { try await real.suspend() }
  package func resume() async throws(ReaderError) { try await real.resume() }
  package func shutdown() async { await real.shutdown() }
}
