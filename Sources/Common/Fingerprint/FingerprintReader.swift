/// The calls of the vault to a reader process.
///
/// Both sides of the bus implement this protocol: libfprint's adapter inside the reader process, and the client, which
/// forwards each call. So the same contract tests apply to both.
///
/// One reader is open at a time, and one action runs at a time. Cancelling the task of a running action cancels the
/// action: it then throws ``ReaderError/cancelled``.
package protocol FingerprintReader: Sendable {
  /// The attached readers. None of them need be open.
  func readers() async throws(ReaderError) -> [ReaderDescription]

  /// The attached readers with this adapter; nil: with any. Throws if these cannot be listed, even if others can.
  func readers(drivenBy adapter: ReaderAdapter?) async throws(ReaderError) -> [ReaderDescription]

  /// Opens the reader with this ``ReaderDescription/id``. Open it late and close it at once: while a reader of libfprint
  /// is open, no other program can use it. If this throws, also because it was cancelled, no reader is open.
  ///
  /// - Parameter user: the user whose fingers fprintd is to use.
  func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription

  /// Makes the open reader ready for scans, and returns its description, which may be more complete now. fprintd's reader
  /// is claimed, which can take many seconds and keeps other programs out until ``close()``. Call it before a person is
  /// asked for a finger. A scan does the same if this was not called.
  func prepare() async throws(ReaderError) -> ReaderDescription

  /// Releases the open reader. Closing when none is open does nothing.
  func close() async throws(ReaderError)

  /// Enrols one finger and returns its template.
  ///
  /// - Parameter finger: which finger it is. Only fprintd uses it, and requires it, since it keeps its prints by
  ///   finger. Other templates contain no user and no finger name.
  func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template

  /// Waits for one finger and looks for it among the prints, in their order.
  func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer

  /// Waits for one finger and compares it with one print.
  func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer

  /// Waits for one finger and takes its picture, on a reader that hands out pictures.
  ///
  /// - Parameter includingImage: whether the answer contains the picture itself, which is a fingerprint, in addition to
  ///   the measurements.
  func capture(includingImage: Bool, observer: @escaping ScanObserver) async throws(ReaderError) -> CaptureOutcome

  /// The prints on the chip, compared with the prints that the caller knows.
  func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList

  /// Removes one print from the chip; does nothing for a reader without storage.
  func delete(_ template: Template) async throws(ReaderError)

  /// Removes every print from the chip, including those of other users and systems.
  func clearStorage() async throws(ReaderError)

  /// Prepares the reader for the system's sleep: a running scan is suspended or ends with ``ReaderError/suspended``.
  func suspend() async throws(ReaderError)

  /// Wakes the reader after ``suspend()``.
  func resume() async throws(ReaderError)

  /// Releases the reader and ends its process, if it has one. A later call starts another one.
  func shutdown() async
}

extension FingerprintReader {
  /// For readers of one process, which can only be listed together.
  package func readers(drivenBy adapter: ReaderAdapter?) async throws(ReaderError) -> [ReaderDescription] {
    try await readers().filter { adapter == nil || $0.identity.adapter == adapter }
  }

  /// Claims the reader for the user that the reader process runs as.
  package func open(_ id: String) async throws(ReaderError) -> ReaderDescription { try await open(id, for: .own) }

  /// Enrols a finger without a name.
  package func enroll(observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    try await enroll(as: nil, observer: observer)
  }

  /// Throws, for readers without pictures, such as fprintd's.
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
