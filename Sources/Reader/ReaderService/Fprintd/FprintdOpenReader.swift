internal import Fingerprint

/// fprintd's open reader, and the user that it is open for.
struct FprintdOpenReader: Sendable {
  /// The path of its D-Bus object.
  let path: String
  let description: ReaderDescription
  /// Whether this fprintd reports when a finger is needed and when one is present.
  let tellsFingers: Bool
  let user: ReaderUser
  let templates: FprintdTemplates
}
