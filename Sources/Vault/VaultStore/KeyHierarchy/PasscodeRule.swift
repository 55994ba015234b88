/// The requirements for a store's passcode.
package struct PasscodeRule: Sendable {
  /// The fewest bytes of a new passcode, by default.
  package static let shortestByDefault = 4

  /// The fewest bytes of a new passcode.
  package var shortest = shortestByDefault
  /// Whether a passcode is required: it can be changed, but not removed.
  package var isRequired = false

  package init(shortest: Int = shortestByDefault, isRequired: Bool = false) {
    (self.shortest, self.isRequired) = (shortest, isRequired)
  }
}
