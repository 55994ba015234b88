/// What can be seen of the login keyring without its secret.
package struct KeyringLook: Sendable {
  /// What is wrong with its file; nil where no fault can be seen.
  package let problem: WalletError?
  /// Whether there is still the copy of the file from before it got a secret of its own.
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
