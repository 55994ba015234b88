/// The service's settings cannot be used.
package struct ServiceSettingsError: Error, Sendable, Hashable {
  package var path: String
  /// What is wrong, as the words after the path.
  package var problem: String

  package var words: String { "\(path): \(problem)" }
}
