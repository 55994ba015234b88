package import Fingerprint

/// Which of the attached readers a store uses.
package enum ReaderPreference: Sendable, Hashable {
  /// The first that has fingers in the store, else the first.
  case any
  /// The same, among readers of the adapter that the store has recorded. A reader that both fprintd and libfprint drive
  /// is listed twice.
  case recorded
  /// The reader with this id or name.
  case named(String)

  /// The preference that follows from a selection of readers.
  package init(_ selection: ReaderSelection) {
    if let device = selection.device {
      self = .named(device)
    } else {
      self = selection == .automatic ? .recorded : .any
    }
  }
}
