internal import Fingerprint

/// The reader of fprintd that is open, and for whom.
struct FprintdOpenReader: Sendable {
  /// Its object's.
  let path: String
  let description: ReaderDescription
  /// Whether this fprintd tells when a finger is needed and when one is there.
  let tellsFingers: Bool
  let user: ReaderUser
  let templates: FprintdTemplates

  func claim(over link: FprintdConnection) -> FprintdClaim { FprintdClaim(path: path, user: user, link: link) }
}
