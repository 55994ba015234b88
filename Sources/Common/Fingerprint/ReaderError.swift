/// Why a reader did not do what was asked. A finger that does not match, or that was read badly, is not an error: see
/// `ScanOutcome`.
public enum ReaderError: Error, Sendable, Hashable {
  /// No reader is attached, or none answers to the name asked for.
  case absent
  /// The device node may not be opened; the value is its path where known.
  case permissionDenied(String?)
  /// Another program has the reader open; the value names who may hold it (such as `fprintd`), where known.
  case busy(holder: String?)
  /// The reader was unplugged.
  case removed
  /// The driver's thermal model stopped the reader; it cools down when left alone.
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
  /// A stored template is not one libfprint can read.
  case badTemplate
  /// The system is about to sleep, or was asleep, and the scan was given up.
  case suspended
  /// Whoever keeps the prints, fprintd, has others than those that the scan was looking for.
  case printsChanged
  /// The reader process ended before it answered; the value says how.
  case processDied(String)
  /// The reader process cannot be started; the value says why.
  case cannotStart(String)
  /// Anything else libfprint reports, in its words.
  case device(String)
}
