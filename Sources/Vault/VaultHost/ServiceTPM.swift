import Glibc
import VaultStore

/// Which TPM holds the keys of the service's stores.
package enum ServiceTPM: Sendable, Hashable {
  /// That of the machine, if there is one.
  case ofMachine
  /// None: keys are kept in files.
  case none
  /// The kernel's device at this path.
  case device(String)
  /// swtpm, a TPM in software, at this socket. For tests: it protects nothing.
  case simulator(socket: String)

  private static let device = "/dev/tpmrm0"

  /// The kernel's device; nil where none is used.
  package var device: String? {
    switch self {
    case .ofMachine: Self.device
    case .device(let path): path
    case .none, .simulator: nil
    }
  }

  /// Parses the setting: `auto`, `no`, a path, or `swtpm:` and a path; nil for anything else.
  init?(_ text: String) {
    let socket = "swtpm:"
    switch text {
    case "auto": self = .ofMachine
    case "no": self = .none
    case _ where text.hasPrefix("/"): self = .device(text)
    case _ where text.hasPrefix(socket + "/"): self = .simulator(socket: String(text.dropFirst(socket.count)))
    default: return nil
    }
  }

  /// The folder of the machine's record; nil where there is none.
  package func folderOfRecord(in stores: String) -> String? {
    switch self {
    case .none: nil
    case .ofMachine where access(Self.device, F_OK) != 0: nil
    case .ofMachine, .device, .simulator: RollbackGuard.folder(inThatOfStores: stores)
    }
  }

  /// Where the keys of stores are kept, beside credentials.
  ///
  /// - Parameter folder: the folder of the stores. With a TPM it also has that of the machine's record.
  func storage(of folder: String) -> RootStorage {
    let place: TPMPlace
    switch self {
    case .ofMachine where access(Self.device, F_OK) != 0: return .withoutTPM(path: Self.device)
    case .ofMachine: place = .device(Self.device)
    case .none: return .keyFile
    case .device(let path): place = .device(path)
    case .simulator(let socket): place = .simulator(socket: socket)
    }
    let tpm = TPM(place)
    return .tpm(tpm, RollbackGuard(in: RollbackGuard.folder(inThatOfStores: folder), tpm))
  }
}
