package import Fingerprint
internal import SDBus

/// The readers of fprintd, if it runs, followed by those that libfprint drives: `--reader auto`.
///
/// A reader that both can drive is listed twice, first as fprintd's. The store decides which of the two it uses.
package actor AutomaticReader: FingerprintReader {
  /// The bus loop, so that calls keep their order.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let fprintd: any FingerprintReader
  private let direct: any FingerprintReader
  private var current: (any FingerprintReader)?

  package init(fprintd: any FingerprintReader, direct: any FingerprintReader) {
    self.fprintd = fprintd
    self.direct = direct
  }

  /// If one of the two fails, returns the readers of the other. Throws the error only if there are none.
  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    var listed: [ReaderDescription] = []
    var failure: ReaderError?
    do throws(ReaderError) {
      listed = try await fprintd.readers()
    } catch .cancelled {
      throw .cancelled
    } catch .fprintdUnreachable {
      // Machines without a desktop usually have no fprintd.
    } catch {
      failure = error
    }
    do throws(ReaderError) {
      listed += try await direct.readers()
    } catch {
      if listed.isEmpty || error == .cancelled { throw error }
    }
    if listed.isEmpty, let failure { throw failure }
    return listed
  }

  package func readers(drivenBy adapter: ReaderAdapter?) async throws(ReaderError) -> [ReaderDescription] {
    switch adapter {
    case nil: try await readers()
    case .fprintd: try await fprintd.readers()
    case .libfprint: try await direct.readers()
    }
  }

  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    guard current == nil else { throw .device("a reader is open already") }
    let chosen =
      switch ReaderAdapter(ofReader: id) {
      case .fprintd: fprintd
      case .libfprint: direct
      }
    current = chosen
    do throws(ReaderError) {
      return try await chosen.open(id, for: user)
    } catch {
      current = nil
      throw error
    }
  }

  package func close() async throws(ReaderError) {
    guard let closing = current else { return }
    current = nil
    try await closing.close()
  }

  package func shutdown() async {
    current = nil
    await fprintd.shutdown()
    await direct.shutdown()
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
