internal import Glibc
internal import SDBus
internal import SecretModel
internal import SecureMemory

extension BusValue {
  /// A descriptor as an argument. The message gets its own, for the same file or socket.
  static func file(_ descriptor: Int32) throws(VaultError) -> BusValue {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .inputOutput("a descriptor: \(String(cString: strerror(errno)))") }
    return .descriptor(BusDescriptor(taking: copy))
  }

  /// The descriptor of a file or a socket that a client sent. Valid as long as the value lives.
  var asFile: Int32 {
    get throws(VaultError) {
      guard let descriptor = asDescriptor else { throw .unreadable("a descriptor") }
      return descriptor.rawValue
    }
  }
}

/// Two arguments: a public key, or no bytes; and a passphrase, or no file.
extension EncryptedFile.Recipient {
  var busValues: [BusValue] {
    get throws(VaultError) {
      switch self {
      case .publicKey(let key): [.bytes(key.bytes), try SecretBytes.sealed(nil)]
      case .passphrase(let passphrase): [.bytes([]), try SecretBytes.sealed(passphrase.copy())]
      }
    }
  }

  init(publicKey: BusValue, passphrase: BusValue) throws(VaultError) {
    let bytes = try Octets(bus: publicKey).bytes
    switch try SecretBytes.optional(sealed: passphrase, limit: NewItem.secretLimit) {
    case .some(let passphrase) where bytes.isEmpty: self = .passphrase(SharedSecret(passphrase))
    case .none:
      guard let key = AgePublicKey(bytes: bytes) else { throw .unreadable("a public key") }
      self = .publicKey(key)
    case .some: throw .unreadable("what opens a file")
    }
  }
}

/// Two arguments: the kind of secret that opens a file, and the secret.
extension EncryptedFile.Opening {
  var busValues: [BusValue] {
    get throws(VaultError) {
      switch self {
      case .passphrase(let secret): [.string("passphrase"), try secret.bytes.sealed()]
      case .privateKey(let secret): [.string("private-key"), try secret.bytes.sealed()]
      }
    }
  }

  init(kind: BusValue, secret: consuming SecretBytes) throws(VaultError) {
    switch kind.asString {
    case "passphrase": self = .passphrase(SharedSecret(secret))
    case "private-key": self = .privateKey(SharedSecret(secret))
    default: throw .unreadable("what opens a file")
    }
  }
}
