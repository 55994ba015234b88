import Fingerprint
import Synchronization

/// Wraps a reader, and records when its last result arrived in this process.
final class WatchedReader: FingerprintReader {
  private let reader: any FingerprintReader
  private let finished = Mutex<UInt64>(0)

  init(_ reader: any FingerprintReader) { self.reader = reader }

  /// When the last finished result came, by `ScanClock`.
  var finishedAt: UInt64 { finished.withLock { $0 } }

  func identify(
    _ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    let answer = try await reader.identify(prints, nonce: nonce, observer: observer)
    finished.withLock { $0 = answer.finishedAt }
    return answer
  }

  func verify(
    _ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    try await reader.verify(print, nonce: nonce, observer: observer)
  }

  func readers() async throws(ReaderError) -> [ReaderDescription] { try await reader.readers() }
  func open(_ id: String) async throws(ReaderError) -> ReaderDescription { try await reader.open(id) }
  func close() async throws(ReaderError) { try await reader.close() }
  func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await reader.enroll(as: finger, observer: observer)
  }
  func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    try await reader.storedPrints(knowing: prints)
  }
  func delete(_ template: Template) async throws(ReaderError) { try await reader.delete(template) }
  func clearStorage() async throws(ReaderError) { try await reader.clearStorage() }
  func suspend() async throws(ReaderError) { try await reader.suspend() }
  func resume() async throws(ReaderError) { try await reader.resume() }
  func shutdown() async { await reader.shutdown() }
}
