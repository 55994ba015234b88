/// The state of the login keyring, as far as it is visible without its secret.
package struct KeyringLook: Sendable {
  /// The visible problem of its file; nil if there is none.
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
