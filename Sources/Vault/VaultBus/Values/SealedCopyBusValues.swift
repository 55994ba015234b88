internal import SDBus
internal import SecretModel
internal import SecureMemory

extension SealedCopy.Keys: BusCodable {}

/// A sealed copy as the bytes of its file.
extension SealedCopy: BusCodable {
  static var busSignature: String { "ay" }
  var busValue: BusValue { .bytes(bytes) }
  init(bus value: BusValue) throws(VaultError) {
    guard let bytes = value.asBytes, let copy = SealedCopy(bytes) else { throw .unreadable("a sealed copy") }
    self = copy
  }
}

/// Two arguments: the kind of secret that opens a copy, and the secret.
extension SealedCopy.Opening {
  consuming func busValues() throws(VaultError) -> [BusValue] {
    switch consume self {
    case .passcode(let secret): [.string("passcode"), try secret.sealed()]
    case .recoveryKey(let secret): [.string("recovery-key"), try secret.sealed()]
    }
  }

  init(kind: BusValue, secret: consuming SecretBytes) throws(VaultError) {
    switch kind.asString {
    case "passcode": self = .passcode(secret)
    case "recovery-key": self = .recoveryKey(secret)
    default: throw .unreadable("what opens a sealed copy")
    }
  }
}
