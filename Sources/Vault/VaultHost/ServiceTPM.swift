import Glibc
import TPM
package import Vault

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

  /// The words of the setting: `auto`, `no`, a path, `swtpm:` and a path; nil for others.
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

  /// Where the keys of stores are kept.
  package var storage: RootStorage {
    switch self {
    case .ofMachine:
      access(Self.device, F_OK) == 0 ? .tpm(TPM(.device(Self.device))) : .withoutTPM(path: Self.device)
    case .none: .keyFile
    case .device(let path): .tpm(TPM(.device(path)))
    case .simulator(let socket): .tpm(TPM(.simulator(socket: socket)))
    }
  }
}
