/// The state of the login keyring, as far as it is visible without its secret.
package struct KeyringLook: Sendable {
  /// What is wrong with its file; nil if nothing visible is.
  package let problem: WalletError?
  /// Whether the copy from before the change to a random secret still exists.
  package let hasFileOfBefore: Bool
  /// Whether the user's daemon listens, or the socket unit that starts it.
  package let isListening: Bool

  package init(_ places: KeyringPlaces) {
    do throws(WalletError) {
      try KeyringFile.requireSealed(places.file)
      problem = nil
    } catch {
      problem = error
    }
    hasFileOfBefore = PrivateFile.exists(places.before)
    isListening = (try? KeyringControl(at: places.control).requireListening()) != nil
  }
}
