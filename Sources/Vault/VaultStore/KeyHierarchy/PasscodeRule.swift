/// What the passcode of a store has to be.
package struct PasscodeRule: Sendable {
  /// The fewest bytes of a new passcode, by default.
  package static let shortestByDefault = 4

  /// The fewest bytes of a new passcode.
  package var shortest = shortestByDefault
  /// Whether the store has to have one, so that it is changed and never removed.
  package var isRequired = false

  package init(shortest: Int = shortestByDefault, isRequired: Bool = false) {
    (self.shortest, self.isRequired) = (shortest, isRequired)
  }
}
