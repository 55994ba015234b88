/// The system units that drive the readers.
package enum ReaderUnit: String, Sendable, CaseIterable {
  /// Drives devices through libfprint.
  case libfprint
  /// Uses fprintd, and reads its template files.
  case fprintd

  /// The folder of their sockets, which belongs to root.
  package static let folder = "/run/whorl-reader"

  /// The full path of its socket, which belongs to root.
  package var socket: String { socket(in: Self.folder) }

  func socket(in folder: String) -> String { "\(folder)/\(rawValue)" }
}
