package import Fingerprint

/// Which of the readers attached is used.
package enum ReaderPreference: Sendable, Hashable {
  /// The first that has fingers in the store, else the first.
  case any
  /// The same, of the kind that the store has recorded: one that both fprintd and libfprint drive is two readers.
  case recorded
  /// The one with this id or name.
  case named(String)

  /// What a selection of readers means for the choice among them.
  package init(_ selection: ReaderSelection) {
    if let device = selection.device {
      self = .named(device)
    } else {
      self = selection == .automatic ? .recorded : .any
    }
  }
}
