/// A secret that could be guessed, so wrong tries are counted.
package enum Guessable {
  case passcode
  /// The application password of the item with this id. Each item has a count of its own. With a shared count, the
  /// right password of one item would clear the failures of another.
  case applicationPassword(item: [UInt8])

  /// The error of a try during a delay.
  func delayed(_ seconds: Int) -> VaultError {
    switch self {
    case .passcode: .passcodeDelayed(seconds: seconds)
    case .applicationPassword: .applicationPasswordDelayed(seconds: seconds)
    }
  }
}
