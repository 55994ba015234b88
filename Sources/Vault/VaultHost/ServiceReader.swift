package import Fingerprint
import Presence
import Processes
package import ReaderClient
import SecretModel
import VaultStore

/// The readers that the service's stores use. Clients cannot choose them.
package enum ServiceReader: Sendable {
  /// The readers of the system units.
  case units(ReaderUnits)
  /// A `whorl-reader` that whorld starts itself, over the readers of this selection.
  case child(ReaderSelection)

  /// The readers that an administrator has selected: hardware and recordings through the system units, virtual readers
  /// through a child process.
  package init(_ selection: ReaderSelection) {
    if let units = ReaderUnits(selection) {
      self = .units(units)
    } else {
      self = .child(selection)
    }
  }
}

extension ReaderDesk {
  /// The readers of the service, for the vaults of all its users.
  init(for reader: ServiceReader) {
    switch reader {
    case .units(let units): self.init(units.reader(), preference: ReaderPreference(units.selection))
    case .child(let selection):
      self.init(
        ReaderProcess(
          program: HelperPlaces.reader.locate() ?? HelperPlaces.reader.installed[0], selection: selection),
        preference: ReaderPreference(selection))
    }
  }
}
