/// Whether a store can take and use passkeys. Programs ask this often, so it takes as long with a thousand passkeys as
/// with one.
package struct PasskeyReadiness: Sendable, Hashable {
  /// How many more passkeys fit.
  package var capacity: Int
  /// Whether a finger is enrolled, as far as the store knows.
  package var hasFinger: Bool

  package init(capacity: Int, hasFinger: Bool) {
    self.capacity = capacity
    self.hasFinger = hasFinger
  }
}
