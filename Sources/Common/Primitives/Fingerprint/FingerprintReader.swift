// Fingerprint: fingers, readers and scans as plain values, without C. Begin with the protocol `FingerprintReader`, which
// everything that drives or lends a reader conforms to. `ReaderDescription.swift` says which reader it is, `Scan.swift`
// what a scan reports, and `Template.swift` what an enrolled finger leaves.

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

/// The user for whom a reader is opened. fprintd's readers use the fingers that this user enrolled there; other readers
/// ignore it.
package enum ReaderUser: Sendable, Hashable {
  /// The user that the reader process runs as.
  case own
  /// The user with this name, for a process that serves all users.
  case named(Name)

  /// A user's name that can be the name of a folder.
  package struct Name: Sendable, Hashable {
    package let text: String

    /// Nil for text that cannot be a user's name: empty, longer than a file name may be, or leading to another folder.
    package init?(_ text: String) {
      guard (1...255).contains(text.utf8.count), !text.hasPrefix("."),
        !text.utf8.contains(where: { $0 < 33 || $0 == 47 })
      else { return nil }
      self.text = text
    }
  }

  /// The name for fprintd: empty for the caller's own.
  package var name: String {
    switch self {
    case .own: ""
    case .named(let name): name.text
    }
  }

  /// Parses ``name``. Nil if it cannot be a user's name.
  package init?(name: String) {
    if name.isEmpty {
      self = .own
    } else {
      guard let name = Name(name) else { return nil }
      self = .named(name)
    }
  }
}

/// Why a call to a reader failed. A finger that does not match or could not be read is not an error: see `ScanOutcome`.
@nonexhaustive(warn)
public enum ReaderError: Error, Sendable, Hashable {
  /// No reader is attached, or none has the name that was asked for.
  case absent
  /// The device node may not be opened; the value is its path, if known.
  case permissionDenied(String?)
  /// Another program has the reader open; the value names who may hold it (such as `fprintd`), where known.
  case busy(holder: String?)
  /// The reader was unplugged.
  case removed
  /// The driver's thermal model stopped the reader until it has cooled down.
  case tooHot
  /// The caller cancelled.
  case cancelled
  /// The driver cannot do this.
  case notSupported
  /// The chip has no room for another print.
  case storageFull
  /// The print asked for is not on the chip.
  case notOnChip
  /// The driver says this finger is already enrolled.
  case duplicate
  /// libfprint cannot read a stored template.
  case badTemplate
  /// The scan ended because the system sleeps or is about to.
  case suspended
  /// The prints in fprintd changed while a scan was comparing with them.
  case printsChanged
  /// The reader process ended before its answer; the value says how.
  case processDied(String)
  /// The reader process cannot be started; the value says why.
  case cannotStart(String)
  /// fprintd or its bus does not allow it for this program, by polkit's decision. The value is its message.
  case fprintdRefused(String)
  /// fprintd cannot be started or reached; the value says why.
  case fprintdUnreachable(String)
  /// fprintd lists no reader, although one is attached that libfprint has a driver for. fprintd cannot open it, or has
  /// only just begun to. The value is the reader's USB ID.
  case missedByFprintd(String)
  /// fprintd's template files cannot be read, so a new enrolment of a finger could not be detected. The value is their
  /// folder, if known.
  case fprintdFilesUnreadable(String?)
  /// The service in fprintd's place looks for all of the user's fingers, although it was asked for one of several. A
  /// match could be of another one, so none is asked for.
  case looksForAnyFinger
  /// The service in fprintd's place deletes all fingers of a user or none.
  case deletesOnlyAllFingers
  /// The system service does not lend its reader for this; the value says why.
  case notLent(String)
  /// Any other error of libfprint, with its message.
  case device(String)
}
