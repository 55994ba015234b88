package import Fingerprint

/// The whole environment of a reader process, for whoever starts one and for the process itself.
///
/// libfprint obeys its environment: a variable decides whether readers exist that take anybody's fingers from a
/// socket. So it is built from the selection alone, on both sides: the starter's counts before `main`, the process's
/// own whatever the starter was.
extension ReaderSelection {
  package var readerEnvironment: [(name: String, value: String)] {
    switch self {
    case .automatic, .fprintd, .libfprint: []
    case .virtualImage(let socket): Self.virtual("virtual_image", "FP_VIRTUAL_IMAGE", socket)
    case .virtualStorage(let socket): Self.virtual("virtual_device_storage", "FP_VIRTUAL_DEVICE_STORAGE", socket)
    // Shortens the drivers' own waits, which a recording does not wait for.
    case .replay: [("FP_DEVICE_EMULATION", "1")]
    }
  }

  /// The list of allowed drivers has two names, an older and a newer.
  private static func virtual(_ driver: String, _ variable: String, _ socket: String) -> [(String, String)] {
    [(variable, socket), ("FP_DRIVERS_WHITELIST", driver), ("FP_DRIVERS_ALLOWLIST", driver)]
  }
}
