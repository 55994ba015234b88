package import Primitives
internal import SDBus

/// The readers of all adapters: `--reader auto`.
///
/// A reader that two adapters can drive is listed twice, in the order of ``ReaderAdapter``. The store decides which one
/// it uses.
package actor AutomaticReader: FingerprintReader {
  /// The bus loop, so that calls keep their order.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let sources: [ReaderAdapter: any FingerprintReader]
  private var current: (any FingerprintReader)?
  /// Why readers may be missing from the last list: the error of an adapter, if others listed some.
  package private(set) var listingFailure: ReaderError?

  /// - Parameter source: makes the reader source of an adapter.
  package init(_ source: (ReaderAdapter) -> any FingerprintReader) {
    sources = Dictionary(uniqueKeysWithValues: ReaderAdapter.allCases.map { ($0, source($0)) })
  }

  /// If one adapter fails, returns the readers of the others. Throws the error only if there are none;
  /// ``listingFailure`` has it otherwise.
  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    var listed: [ReaderDescription] = []
    var failure: ReaderError?
    for adapter in ReaderAdapter.allCases {
      do throws(ReaderError) {
        listed += try await readers(drivenBy: adapter)
      } catch .cancelled {
        throw .cancelled
      } catch .fprintdUnreachable {
        // Machines without a desktop usually have no fprintd.
      } catch {
        failure = error
      }
    }
    if listed.isEmpty, let failure { throw failure }
    listingFailure = failure
    return listed
  }

  package func readers(drivenBy adapter: ReaderAdapter?) async throws(ReaderError) -> [ReaderDescription] {
    guard let adapter else { return try await readers() }
    return try await sources[adapter]?.readers() ?? []
  }

  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    guard current == nil else { throw .device("a reader is open already") }
    guard let chosen = sources[ReaderAdapter(ofReader: id)] else { throw .absent }
    current = chosen
    do throws(ReaderError) {
      return try await chosen.open(id, for: user)
    } catch {
      current = nil
      throw error
    }
  }

  package func prepare() async throws(ReaderError) -> ReaderDescription { try await opened().prepare() }

  package func close() async throws(ReaderError) {
    guard let closing = current else { return }
    current = nil
    try await closing.close()
  }

  package func shutdown() async {
    current = nil
    for adapter in ReaderAdapter.allCases { await sources[adapter]?.shutdown() }
  }

  private func opened() throws(ReaderError) -> any FingerprintReader {
    guard let current else { throw .device("no reader is open") }
    return current
  }

  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await opened().enroll(as: finger, observer: observer)
  }

  package func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await opened().identify(prints, nonce: nonce, observer: observer)
  }

  package func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await opened().verify(print, nonce: nonce, observer: observer)
  }

  package func capture(
    includingImage: Bool, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> CaptureOutcome {
    try await opened().capture(includingImage: includingImage, observer: observer)
  }

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    try await opened().storedPrints(knowing: prints)
  }

  package func delete(_ template: Template) async throws(ReaderError) {
    try await opened().delete(template)
  }

  package func clearStorage() async throws(ReaderError) {
    try await opened().clearStorage()
  }

  package func suspend() async throws(ReaderError) {
    try await current?.suspend()
  }

  package func resume() async throws(ReaderError) {
    try await current?.resume()
  }
}
