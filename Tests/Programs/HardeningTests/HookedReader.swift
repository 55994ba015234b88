import Fingerprint
import Synchronization

/// Forwards to another reader; at each step of a scan a test may do something first, or have the reader call itself
/// something else.
struct HookedReader: FingerprintReader {
  enum Step: String, Sendable, CaseIterable {
    case listing, opening
    /// The scan is charged and about to start.
    case arming
    /// The scan waits for a finger.
    case armed
    /// The finger was matched, and the vault does not know yet.
    case answered
  }

  let real: any FingerprintReader
  var described: @Sendable (ReaderDescription) -> ReaderDescription = { $0 }
  let at: @Sendable (Step) async -> Void

  func readers() async throws(ReaderError) -> [ReaderDescription] {
    await at(.listing)
    return try await real.readers().map(described)
  }

  func open(_ id: String) async throws(ReaderError) -> ReaderDescription {
    await at(.opening)
    return described(try await real.open(id))
  }

  func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    await at(.arming)
    let armed = Mutex<Task<Void, Never>?>(nil)
    let answer = try await real.identify(prints, nonce: nonce) { event in
      guard event == .fingerNeeded else { return observer(event) }
      // The vault hears of it when the test is done.
      armed.withLock {
        $0 = Task {
          await at(.armed)
          observer(event)
        }
      }
    }
    await armed.withLock { $0 }?.value
    await at(.answered)
    return answer
  }

  func close() async throws(ReaderError) { try await real.close() }
  func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await real.enroll(as: finger, observer: observer)
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
