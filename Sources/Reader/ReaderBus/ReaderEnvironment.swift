package import Primitives
internal import Processes

/// The complete environment of a reader process, for the program that starts it and for the process itself.
///
/// libfprint reads environment variables: one enables readers that take fingers from a socket. The environment is
/// therefore built from the selection alone, on both sides: by the starter, because libraries read it before `main`,
/// and by the process itself, because it does not trust its starter's environment.
extension ReaderSelection {
  package var readerEnvironment: [(name: String, value: String)] {
    switch self {
    case .virtualImage(let socket): Self.virtual("virtual_image", "FP_VIRTUAL_IMAGE", socket)
    case .virtualStorage(let socket): Self.virtual("virtual_device_storage", "FP_VIRTUAL_DEVICE_STORAGE", socket)
    // Shortens delays in the drivers, which are not needed for a replay.
    case .replay: [("FP_DEVICE_EMULATION", "1")]
    default: []
    }
  }

  /// The variable with the list of allowed drivers has an older and a newer name.
  private static func virtual(_ driver: String, _ variable: String, _ socket: String) -> [(String, String)] {
    [(variable, socket), ("FP_DRIVERS_WHITELIST", driver), ("FP_DRIVERS_ALLOWLIST", driver)]
  }
}

extension FprintdPlace {
  /// How the readers of this fprintd are driven. The reader process and its client each determine this independently.
  ///
  /// Only the fprintd on the system bus has physical readers; one at a configured place is for tests. In a user
  /// namespace other than the initial one, the user who made it decides what is at `/run/dbus` and who is root there.
  package var nature: ReaderDescription.Nature { nature(inInitialUserNamespace: UserNamespace.isInitial) }

  package func nature(inInitialUserNamespace isInitial: Bool) -> ReaderDescription.Nature {
    self == .system && isInitial ? .physical : .virtual
  }
}
