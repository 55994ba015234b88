import Fingerprint
import SecretModel
import Whorl

extension Failure {
  init(_ error: ReaderError) { self.init(error.status, error.explanation, name: error.appleName) }
}

extension ReaderError {
  /// The exit status of a command that ends with it.
  var status: ExitStatus {
    switch self {
    case .absent, .fprintdRefused, .permissionDenied, .removed, .notSupported, .storageFull, .processDied,
      .fprintdUnreachable, .cannotStart:
      .unavailable
    case .fprintdFilesUnreadable, .cancelled, .notLent: .refused
    case .busy, .tooHot, .suspended: .tryAgain
    case .notOnChip: .notFound
    case .duplicate: .exists
    case .badTemplate: .damaged
    case .printsChanged: VaultError.setChanged.status
    case .device: .inputOutput
    }
  }

  /// As ``VaultError/appleName``.
  var appleName: String? {
    switch self {
    case .absent, .fprintdFilesUnreadable, .fprintdRefused, .permissionDenied, .busy, .tooHot, .notSupported,
      .storageFull, .notOnChip, .processDied, .fprintdUnreachable, .cannotStart, .notLent, .device:
      "LAError.biometryNotAvailable"
    case .removed: "LAError.biometryDisconnected"
    case .cancelled: Failure.cancelled.name
    case .duplicate: "errSecDuplicateItem"
    case .badTemplate: "errSecDecode"
    case .suspended: "LAError.systemCancel"
    case .printsChanged: VaultError.setChanged.appleName
    }
  }
}
