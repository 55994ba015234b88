package import Fingerprint
import Processes
import ReaderClient
import SecretModel
import Vault

/// The readers that the service's stores use. No client names them.
package enum ServiceReader: Sendable {
  /// A `whorl-reader` that whorld starts itself, over the readers of this selection.
  case child(ReaderSelection)
}

extension ReaderDesk {
  /// The readers of the service, for the vaults of all its users.
  init(for reader: ServiceReader) {
    switch reader {
    case .child(let selection):
      self.init(
        ReaderProcess(
          program: HelperPlaces.reader.locate() ?? HelperPlaces.reader.installed[0], selection: selection),
        preference: ReaderPreference(selection))
    }
  }
}
