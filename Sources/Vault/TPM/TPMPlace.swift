/// How a TPM is reached.
package enum TPMPlace: Sendable, Hashable {
  /// The kernel's device, by its path: `/dev/tpmrm0`, with the kernel's resource manager.
  case device(String)
  /// The Unix socket of swtpm, a TPM in software, for tests. It protects nothing.
  case simulator(socket: String)

  package var path: String {
    switch self {
    case .device(let path): path
    case .simulator(let socket): socket
    }
  }
}
