package import Fingerprint
import Keys
import Processes
import ReaderClient
import SecretModel
import Vault

/// The readers that the service's stores use. No client names them.
package enum ServiceReader: Sendable {
  /// A `whorl-reader` that whorld starts itself, over the readers of this selection.
  case child(ReaderSelection)
}

extension ServiceReader {
  func vault(at path: String, owner: UInt32, scrypt: ScryptQueue, floor: Scrypt.Floor) throws(VaultError) -> Vault {
    switch self {
    case .child(let selection):
      try Vault(
        at: path,
        reader: ReaderProcess(
          program: HelperPlaces.reader.locate() ?? HelperPlaces.reader.installed[0], selection: selection),
        device: selection.device, followsRecordedAdapter: selection == .automatic, owner: owner, floor: floor,
        scrypt: scrypt)
    }
  }
}
