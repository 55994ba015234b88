/// What the passcode of a store has to be.
package struct PasscodeRule: Sendable {
  /// The fewest bytes of a new passcode.
  package var shortest = Vault.shortestPasscode
  /// Whether the store has to have one, so that it is changed and never removed.
  package var isRequired = false

  package init(shortest: Int = Vault.shortestPasscode, isRequired: Bool = false) {
    (self.shortest, self.isRequired) = (shortest, isRequired)
  }
}
