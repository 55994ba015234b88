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
