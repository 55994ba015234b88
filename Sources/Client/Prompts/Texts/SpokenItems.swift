internal import Primitives
package import SecretModel

/// What a person reads about an item. Scripts, `--json` and `--verbose` get the words of the options.
extension AccessControl {
  /// What releases the secret.
  package var spoken: String {
    let gate = constraint.map(\.spoken) ?? description
    return applicationPassword ? Text.of("{rule}, and a password of its own", ["rule": gate]) : gate
  }
}

extension AccessControl.Constraint {
  package var spoken: String {
    switch self {
    case .currentSet: Text.of("one of these fingers")
    case .anyFinger: Text.of("a finger")
    case .presence: Text.of("a finger or the passcode")
    case .passcode: Text.of("the passcode")
    case .none: Text.of("nothing")
    }
  }
}

extension Accessibility {
  /// When the item is open, to follow "open".
  package var spoken: String {
    switch self {
    case .whenUnlocked: Text.of("while unlocked")
    case .afterFirstUnlock: Text.of("after the first login")
    case .passcodeSet: Text.of("with a passcode set")
    }
  }
}

extension Item.State {
  /// Nil for an item that can be used.
  package var spoken: String? {
    switch self {
    case .living: nil
    case .dead: Text.of("lost: what it was bound to is gone")
    case .damaged: Text.of("damaged")
    }
  }
}
