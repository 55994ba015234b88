/// What the vault can ask of a reader process.
///
/// The same protocol stands on both sides of the bus: libfprint's adapter implements it inside the reader process, and
/// the client carries it call for call, so that one set of contract tests holds for both.
///
/// One reader is open at a time, and one action runs at a time. Cancelling the task of a running action cancels the
/// action: it then throws ``ReaderError/cancelled``.
package protocol FingerprintReader: Sendable {
  /// The readers attached now. Needs none of them open.
  func readers() async throws(ReaderError) -> [ReaderDescription]

  /// Claims the reader with this ``ReaderDescription/id``. Claim late, release at once: while a reader is open no
  /// other program can use it.
  ///
  /// - Parameter user: whose fingers it is to have, where fprintd keeps them.
  func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription

  /// Releases the open reader. Closing when none is open does nothing.
  func close() async throws(ReaderError)

  /// Enrols one finger and gives its template.
  ///
  /// - Parameter finger: which finger it is. Only fprintd, which keeps its prints by finger, takes account of it, and
  ///   needs it; no other template has a user or a finger name in it.
  func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template

  /// Waits for one finger and looks for it among the prints, in their order.
  func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer

  /// Waits for one finger and compares it with one print.
  func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer

  /// Waits for one finger and takes its picture, on a reader that hands out pictures.
  ///
  /// - Parameter includingImage: whether the answer holds the picture itself, which is a fingerprint, beside what it is
  ///   like.
  func capture(includingImage: Bool, observer: @escaping ScanObserver) async throws(ReaderError) -> CaptureOutcome

  /// What is stored on the chip, against the prints the caller knows.
  func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList

  /// Removes one print from the chip; does nothing for a reader without storage.
  func delete(_ template: Template) async throws(ReaderError)

  /// Removes every print from the chip, other users' and other systems' too.
  func clearStorage() async throws(ReaderError)

  /// Prepares the reader for the system's sleep: a running scan is suspended or ends with ``ReaderError/suspended``.
  func suspend() async throws(ReaderError)

  /// Wakes the reader after ``suspend()``.
  func resume() async throws(ReaderError)

  /// Releases the reader and ends whatever process stands behind it. A later question starts anew.
  func shutdown() async
}

extension FingerprintReader {
  /// Claims the reader for the user that the reader process runs as.
  package func open(_ id: String) async throws(ReaderError) -> ReaderDescription { try await open(id, for: .own) }

  /// Enrols a finger without a name.
  package func enroll(observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await enroll(as: nil, observer: observer)
  }

  /// For readers that hand out no pictures, such as fprintd's.
  package func capture(
    includingImage: Bool, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> CaptureOutcome {
    throw .notSupported
  }
}

/// The prints on a match-on-chip reader, as far as the caller knows them.
package struct ChipList: Sendable, Hashable {
  /// The known prints that are on the chip.
  package var present: Set<EnrolmentID>
  /// Prints on the chip that the caller does not know.
  package var unknown: [Template]

  package init(present: Set<EnrolmentID>, unknown: [Template]) {
    self.present = present
    self.unknown = unknown
  }
}
