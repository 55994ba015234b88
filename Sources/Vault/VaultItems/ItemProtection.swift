import SecretModel
import VaultStore

/// The protection that an item is to be stored with.
package struct ItemProtection {
  var access: AccessControl
  var accessibility: Accessibility
  /// The set to bind to, if the access control has a bound finger.
  var bound: StoredSet?
  /// The application password; nil without one.
  var password: StretchedPasscode?

  var requirement: Requirement { Requirement(access) }
}
