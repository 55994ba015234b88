import Fingerprint
import Presence
import SecretModel
import SecureMemory
import VaultStore

/// Determines the protection of new items. Looks up only once what several items need.
struct NewProtections {
  private let fingers: CurrentFingers
  private let passcodes: Passcodes
  private var passcodeIsSet: Bool?
  private var boundSet: StoredSet?
  private var hasFinger = false

  init(fingers: CurrentFingers, passcodes: Passcodes) {
    self.fingers = fingers
    self.passcodes = passcodes
  }

  /// - Parameter password: returns the application password; called if the item is to have one.
  /// - Throws: `passcodeNotSet`, `notEnrolled`, or the reason why the current fingers cannot be determined.
  mutating func protection(
    of item: NewItem, password: () async throws(VaultError) -> SharedSecret
  ) async throws(VaultError) -> ItemProtection {
    var protection = ItemProtection(access: item.access, accessibility: item.accessibility)
    let requirement = protection.requirement
    if item.accessibility == .passcodeSet || requirement.mentions(.passcode) { try requirePasscode() }
    if item.access.applicationPassword {
      protection.password = try await passcodes.stretchNew(try await password())
    }
    if requirement.mentions(.boundFinger) {
      let set = if let boundSet { boundSet } else { try await fingers.setForBinding() }
      boundSet = set
      protection.bound = set
    }
    if requirement.mentions(.finger), protection.bound == nil, !requirement.mentions(.passcodeGate), !hasFinger {
      _ = try await fingers.anyEnrolled()
      hasFinger = true
    }
    return protection
  }

  private mutating func requirePasscode() throws(VaultError) {
    let isSet = if let passcodeIsSet { passcodeIsSet } else { try passcodes.isSet }
    passcodeIsSet = isSet
    guard isSet else { throw .passcodeNotSet }
  }
}

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
