package import Primitives
internal import Synchronization

/// Forwards to another reader. A test may act at each step of a scan, and change the reader's description, its chip
/// list and its answers.
package struct InterposedReader: FingerprintReader {
  package enum Step: String, Sendable, CaseIterable {
    case listing, opening
    /// The scan is charged and about to start.
    case arming
    /// The scan waits for a finger.
    case armed
    /// The finger was matched, and the vault has not received the answer yet.
    case answered
  }

  private let real: any FingerprintReader
  private let beside: [ReaderDescription]
  private let describing: @Sendable (ReaderDescription) -> ReaderDescription?
  private let listing: @Sendable (ChipList) -> ChipList
  private let beforeAnswer: @Sendable (ScanAnswer) async throws(ReaderError) -> ScanAnswer
  private let at: (@Sendable (Step) async -> Void)?

  /// - Parameters:
  ///   - beside: Further readers, listed after it.
  ///   - describing: The description that the vault gets; nil for a reader that is not plugged in.
  ///   - listing: The list of a chip that the vault gets.
  ///   - beforeAnswer: The answer to a scan that the vault gets.
  ///   - at: Called and awaited at each step.
  package init(
    real: any FingerprintReader, beside: [ReaderDescription] = [],
    describing: @escaping @Sendable (ReaderDescription) -> ReaderDescription? = { $0 },
    listing: @escaping @Sendable (ChipList) -> ChipList = { $0 },
    beforeAnswer: @escaping @Sendable (ScanAnswer) async throws(ReaderError) -> ScanAnswer = { $0 },
    at: (@Sendable (Step) async -> Void)? = nil
  ) {
    self.beside = beside
    (self.real, self.describing, self.listing, self.beforeAnswer) = (real, describing, listing, beforeAnswer)
    self.at = at
  }

  /// A reader that describes itself as physical, like the readers of the machine's own fprintd.
  package static func physical(_ real: any FingerprintReader) -> InterposedReader {
    InterposedReader(
      real: real,
      describing: { description in
        var description = description
        description.nature = .physical
        return description
      })
  }

  /// A reader that is not plugged in.
  package static func absent(_ real: any FingerprintReader) -> InterposedReader {
    InterposedReader(real: real, describing: { _ in nil })
  }

  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    await at?(.listing)
    guard !Task.isCancelled else { throw .cancelled }
    return try await real.readers().compactMap(describing) + beside
  }

  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    await at?(.opening)
    guard !Task.isCancelled else { throw .cancelled }
    guard let description = describing(try await real.open(id, for: user)) else { throw .absent }
    return description
  }

  package func prepare() async throws(ReaderError) -> ReaderDescription {
    guard let description = describing(try await real.prepare()) else { throw .removed }
    return description
  }

  package func identify(
    _ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    guard let at else { return try await beforeAnswer(real.identify(prints, nonce: nonce, observer: observer)) }
    await at(.arming)
    let armed = Mutex<Task<Void, Never>?>(nil)
    let answer = try await real.identify(prints, nonce: nonce) { event in
      guard event == .fingerNeeded else { return observer(event) }
      // The vault gets the answer after the test's action.
      armed.withLock {
        $0 = Task {
          await at(.armed)
          observer(event)
        }
      }
    }
    await armed.withLock { $0 }?.value
    await at(.answered)
    return try await beforeAnswer(answer)
  }

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    listing(try await real.storedPrints(knowing: prints))
  }

  // MARK: Only forwarded

  package func close() async throws(ReaderError) { try await real.close() }
  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await real.enroll(as: finger, observer: observer)
  }
  package func verify(
    _ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    try await real.verify(print, nonce: nonce, observer: observer)
  }
  package func delete(_ template: Template) async throws(ReaderError) { try await real.delete(template) }
  package func clearStorage() async throws(ReaderError) { try await real.clearStorage() }
  package func suspend() async throws(ReaderError) { try await real.suspend() }
  package func resume() async throws(ReaderError) { try await real.resume() }
  package func shutdown() async { await real.shutdown() }
}
