import KeySchemes
import Keys
import VaultStore

/// The authenticator data of WebAuthn (Level 3, 6.1), which the vault builds and signs. Its flags say what the vault has
/// seen, whatever the program that asks says.
struct AuthenticatorData {
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let userPresent = Self(rawValue: 1 << 0)
    static let userVerified = Self(rawValue: 1 << 2)
    static let backupEligible = Self(rawValue: 1 << 3)
    static let attestedCredential = Self(rawValue: 1 << 6)
    static let extensions = Self(rawValue: 1 << 7)
  }

  /// The identifier of this kind of authenticator, the same for every store.
  private static let aaguid: [UInt8] = [
    0x6f, 0x9f, 0x63, 0x0f, 0x3f, 0x30, 0x5c, 0xd8, 0xf6, 0xd5, 0xc2, 0x63, 0xe6, 0x9a, 0xe4, 0xdc,
  ]

  private let relyingParty: String
  private var flags: Flags
  private var attested: [UInt8] = []
  private var extensions: [(name: String, value: CanonicalCBOR)] = []

  /// - Parameter sawPerson: whether a finger or the passcode was shown for this ceremony.
  init(for relyingParty: String, sawPerson: Bool) {
    self.relyingParty = relyingParty
    // Passkeys can be exported and restored, so every one is eligible for backup, and its counter stays 0. That it is
    // backed up is not claimed: the vault does not know what happens to a copy.
    flags = sawPerson ? [.userPresent, .userVerified, .backupEligible] : [.backupEligible]
  }

  /// Adds the credential that was made.
  mutating func attest(_ credentialID: [UInt8], _ key: borrowing PublicKey) {
    flags.insert(.attestedCredential)
    attested =
      Self.aaguid + [UInt8(credentialID.count >> 8), UInt8(credentialID.count & 0xFF)] + credentialID
      + CanonicalCBOR.coseKey(key).bytes
  }

  /// Adds the output of an extension.
  mutating func add(_ name: String, _ value: CanonicalCBOR) {
    flags.insert(.extensions)
    extensions.append((name, value))
  }

  var bytes: [UInt8] {
    let counter: [UInt8] = [0, 0, 0, 0]
    let map = extensions.isEmpty ? [] : CanonicalCBOR.map(extensions).bytes
    return Digest.sha256(Array(relyingParty.utf8)) + [flags.rawValue] + counter + attested + map
  }
}

/// The few shapes of CBOR (RFC 8949) that authenticator data contains, in CTAP's canonical form.
struct CanonicalCBOR {
  let bytes: [UInt8]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func bool(_ value: Bool) -> Self { Self([value ? 0xF5 : 0xF4]) }
  static func unsigned(_ value: Int) -> Self { Self(head(0, value)) }
  static func data(_ value: [UInt8]) -> Self { Self(head(2, value.count) + value) }

  /// A map from names. Shorter names come first, then in the order of their bytes.
  static func map(_ pairs: [(name: String, value: Self)]) -> Self {
    let sorted = pairs.sorted { left, right in
      let (one, other) = (Array(left.name.utf8), Array(right.name.utf8))
      return one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
    }
    return Self(head(5, pairs.count) + sorted.flatMap { head(3, $0.name.utf8.count) + $0.name.utf8 + $0.value.bytes })
  }

  /// A public key in COSE's form (RFC 9053), as WebAuthn has it.
  static func coseKey(_ key: borrowing PublicKey) -> Self {
    let external = key.external
    guard key.algorithm != .ed25519 else {
      // kty: OKP, alg: EdDSA, crv: Ed25519, x
      return Self([0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21] + data(external).bytes)
    }
    // kty: EC2, alg: ES256, crv: P-256, x, y
    return Self(
      [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21] + data(Array(external[1...32])).bytes + [0x22]
        + data(Array(external[33...64])).bytes)
  }

  private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
    let kind = kind << 5
    return switch count {
    case ..<24: [kind | UInt8(count)]
    case ..<256: [kind | 24, UInt8(count)]
    default: [kind | 25, UInt8(count >> 8), UInt8(count & 0xFF)]
    }
  }
}
