/// The units of the system that have the readers.
package enum ReaderUnit: String, Sendable, CaseIterable {
  /// Has the devices.
  case libfprint
  /// Asks fprintd, and reads its template files.
  case fprintd

  /// The full path of its socket, which is root's, in a folder of root's.
  package var socket: String { "/run/whorl-reader/\(rawValue)" }
}
