import CBOR
import Keys
import SecretModel

/// The authenticator data of WebAuthn (Level 3, 6.1), which the vault builds and signs. Its flags state what the vault
/// itself has verified, independent of the program: nothing is signed without a person.
struct AuthenticatorData {
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let userPresent = Self(rawValue: 1 << 0)
    static let userVerified = Self(rawValue: 1 << 2)
    static let backupEligible = Self(rawValue: 1 << 3)
    static let attestedCredential = Self(rawValue: 1 << 6)
    static let extensions = Self(rawValue: 1 << 7)
  }

  private let relyingParty: String
  // Passkeys can be exported and restored, so every one is eligible for backup, and its counter stays 0. The flag that
  // it is backed up is not set: the vault does not know what happens to a copy.
  private var flags: Flags = [.userPresent, .userVerified, .backupEligible]
  private var attested: [UInt8] = []
  private var extensions: [CBORValue: CBORValue] = [:]

  /// - Precondition: a finger or the passcode was given for this ceremony.
  init(for relyingParty: String) { self.relyingParty = relyingParty }

  /// Adds the credential that was made.
  mutating func attest(_ credentialID: [UInt8], _ key: COSEKey) {
    flags.insert(.attestedCredential)
    attested =
      Passkey.model + [UInt8(credentialID.count >> 8), UInt8(credentialID.count & 0xFF)] + credentialID
      + key.value.encoded
  }

  /// Adds the output of an extension.
  mutating func add(_ name: String, _ value: CBORValue) {
    flags.insert(.extensions)
    extensions[.text(name)] = value
  }

  var bytes: [UInt8] {
    let counter: [UInt8] = [0, 0, 0, 0]
    let map = extensions.isEmpty ? [] : CBORValue.map(extensions).encoded
    return Digest.sha256(Array(relyingParty.utf8)) + [flags.rawValue] + counter + attested + map
  }
}
