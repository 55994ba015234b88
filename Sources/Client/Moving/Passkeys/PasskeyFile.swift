internal import FoundationEssentials
package import Primitives
package import SecretModel

/// The passkeys in a file of another program: FIDO's Credential Exchange Format 1.0, or a passkey file of KeePassXC.
package struct PasskeyFile: Sendable {
  /// A passkey of the file. The import chooses its access control.
  struct Entry: Sendable {
    let attributes: [AttributeName: AttributeValue]
    let secret: MovingPasskey
    /// Whether data that its site keeps with it is left out, because Whorl cannot store it.
    var isPartial = false
  }

  /// The longest file that is read, in bytes.
  package static let limit = 8 << 20

  let entries: [Entry]
  /// The number of passkeys of the file.
  package var count: Int { entries.count }
  /// The number of passkeys of which data is left out.
  package var partial: Int { entries.count(where: \.isPartial) }
  /// The number of credentials of the file that are no passkeys.
  package private(set) var others = 0

  /// - Throws: `malformed`, with what is wrong.
  package init(_ text: SharedSecret) throws(ImportError) {
    let text = OpenText(text, open: Self.openMembers)
    let form: Form
    do {
      form = try JSONDecoder().decode(Form.self, from: Data(text.bytes))
    } catch {
      throw .malformed(Self.words(of: error))
    }
    switch form {
    case .exchange(let accounts):
      var entries: [Entry] = []
      for credential in accounts.flatMap(\.items).flatMap(\.credentials) {
        guard case .passkey(let passkey) = credential else {
          others += 1
          continue
        }
        entries.append(try passkey.entry(text, number: entries.count + 1))
      }
      self.entries = entries
    case .keepassxc(let passkey): entries = [try passkey.entry(text)]
    }
  }

  /// Decrypts and reads a file in age's format.
  ///
  /// - Parameters:
  ///   - file: open for reading, borrowed for the call.
  ///   - key: of its contents.
  ///   - connection: a private vault, which decrypts.
  package static func contents(
    of file: Int32, key: SharedSecret, by connection: any VaultConnection
  ) async throws(VaultError) -> SharedSecret {
    try await EncryptedTransfer(connection: connection).decrypt(file, with: key) { (socket) throws(VaultError) in
      do throws(ReadError) {
        return SharedSecret(try SecretBytes.read(from: socket, limit: limit))
      } catch {
        guard case .tooLong = error else { throw .inputOutput("the decrypted file: \(error)") }
        throw .fileUnreadable("it is too large for a file of passkeys")
      }
    }
  }

  private static let openMembers: Set<String> = [
    "type", "credentialId", "rpId", "username", "userDisplayName", "userHandle", "algorithm", "credBlob",
    "relyingParty",
  ]

  private static func words(of error: any Error) -> String {
    let path: [any CodingKey]? =
      switch error as? DecodingError {
      case .keyNotFound(let key, let context)?: context.codingPath + [key]
      case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?: context.codingPath
      default: nil
      }
    // The name is one that this type reads, and never text of the file.
    guard let member = path?.last(where: { $0.intValue == nil })?.stringValue else {
      return "it has no passkeys in a known format"
    }
    return "its \"\(member)\" is missing or not valid"
  }
}

// MARK: What the files have

extension PasskeyFile {
  private enum Form: Decodable {
    case exchange([Account])
    case keepassxc(KeePassXCPasskey)

    private enum CodingKeys: String, CodingKey { case version, accounts, relyingParty }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      guard !members.contains(.relyingParty) else {
        self = .keepassxc(try KeePassXCPasskey(from: decoder))
        return
      }
      // A later minor version only adds members.
      guard try members.decode(Version.self, forKey: .version).major == 1 else {
        throw DecodingError.typeMismatch(Int.self, .init(codingPath: [CodingKeys.version], debugDescription: ""))
      }
      self = .exchange(try members.decode([Account].self, forKey: .accounts))
    }
  }

  private struct Version: Decodable { var major: Int }
  private struct Account: Decodable { var items: [Item] }
  private struct Item: Decodable { var credentials: [Credential] }

  private enum Credential: Decodable {
    case passkey(ExchangedPasskey)
    case other

    private enum CodingKeys: String, CodingKey { case type }

    init(from decoder: any Decoder) throws {
      let type = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .type)
      self = type == "passkey" ? .passkey(try ExchangedPasskey(from: decoder)) : .other
    }
  }
}

private struct ExchangedPasskey: Decodable {
  struct Extensions: Decodable {
    var hmacCredentials: HMACCredentials?
    var credBlob: String?
    var largeBlob: LargeBlob?
  }

  /// A site's large data, which Whorl cannot store.
  struct LargeBlob: Decodable {}

  struct HMACCredentials: Decodable {
    var algorithm: String
    var credWithUV: OpenText.Mark
  }

  var credentialId: String
  var rpId: String
  var username: String
  var userDisplayName: String
  var userHandle: String
  var key: OpenText.Mark
  var fido2Extensions: Extensions?

  func entry(_ text: OpenText, number: Int) throws(ImportError) -> PasskeyFile.Entry {
    func wrong(_ member: String) -> ImportError {
      .malformed("its passkey \(number) has a \"\(member)\" that is not valid")
    }
    guard let id = Base64URL.bytes(of: credentialId), !id.isEmpty else { throw wrong("credentialId") }
    guard let handle = Base64URL.bytes(of: userHandle) else { throw wrong("userHandle") }
    guard let key = text.decoded(key) else { throw wrong("key") }
    guard let algorithm = PasskeyKeyKind.algorithm(of: key) else { throw wrong("key") }
    var secretKey: SharedSecret?
    if let credentials = fido2Extensions?.hmacCredentials {
      guard credentials.algorithm == "hmac-sha256", let bytes = text.decoded(credentials.credWithUV),
        bytes.bytes.count == MovingPasskey.secretKeyCount
      else { throw wrong("hmacCredentials") }
      secretKey = bytes
    }
    var blob: [UInt8]?
    var isPartial = fido2Extensions?.largeBlob != nil
    if let text = fido2Extensions?.credBlob {
      guard let bytes = Base64URL.bytes(of: text) else { throw wrong("credBlob") }
      // The format has no limit; the format's own example has 78 bytes.
      if bytes.count <= Passkey.blobLimit { blob = bytes } else { isPartial = true }
    }
    let new = NewPasskey(
      relyingParty: rpId, user: Passkey.User(handle: handle, name: username, displayName: userDisplayName),
      algorithm: algorithm, isDiscoverable: true, hasSecret: secretKey != nil, blob: blob, clientDataHash: [])
    return PasskeyFile.Entry(
      attributes: new.attributes(credentialID: id, publicKey: []),
      secret: MovingPasskey(
        secretKey: secretKey ?? SharedSecret(SecretBytes(count: MovingPasskey.secretKeyCount)), key: key),
      isPartial: isPartial)
  }
}

private struct KeePassXCPasskey: Decodable {
  var relyingParty: String
  var username: String
  var credentialId: String
  var userHandle: String
  var privateKey: OpenText.Mark

  func entry(_ text: OpenText) throws(ImportError) -> PasskeyFile.Entry {
    func wrong(_ member: String) -> ImportError { .malformed("its \"\(member)\" is not valid") }
    guard let id = Base64URL.bytes(of: credentialId), !id.isEmpty else { throw wrong("credentialId") }
    guard let handle = Base64URL.bytes(of: userHandle) else { throw wrong("userHandle") }
    guard let pem = text.secret(privateKey), let key = Self.contents(of: pem),
      let algorithm = PasskeyKeyKind.algorithm(of: key)
    else { throw wrong("privateKey") }
    let new = NewPasskey(
      relyingParty: relyingParty, user: Passkey.User(handle: handle, name: username, displayName: username),
      algorithm: algorithm, isDiscoverable: true, clientDataHash: [])
    return PasskeyFile.Entry(
      attributes: new.attributes(credentialID: id, publicKey: []),
      secret: MovingPasskey(secretKey: SharedSecret(SecretBytes(count: MovingPasskey.secretKeyCount)), key: key))
  }

  /// The contents of a private key in PEM (RFC 7468).
  private static func contents(of pem: SharedSecret) -> SharedSecret? {
    let (head, tail) = (Array("-----BEGIN PRIVATE KEY-----".utf8), Array("-----END PRIVATE KEY-----".utf8))
    var text = SecretBytes(count: pem.bytes.count)
    var count: Int?
    pem.bytes.withUnsafeBytes { bytes in
      let isBlank: (UInt8) -> Bool = { " \t\r\n".utf8.contains($0) }
      guard let end = bytes.lastIndex(where: { !isBlank($0) }) else { return }
      let lines = bytes[...end].drop(while: isBlank)
      guard lines.starts(with: head), lines.suffix(tail.count).elementsEqual(tail) else { return }
      text.withUnsafeMutableBytes { target in
        var written = 0
        for byte in lines.dropFirst(head.count).dropLast(tail.count) where !isBlank(byte) {
          target[written] = byte
          written += 1
        }
        count = written
      }
    }
    guard let count else { return nil }
    text.resize(to: count)
    return OpenText.decoded(SharedSecret(text))
  }
}

/// Finds the algorithm of a private key in PKCS #8. The vault checks the key itself.
enum PasskeyKeyKind {
  /// id-ecPublicKey and prime256v1 (RFC 5480), and id-Ed25519 (RFC 8410), in DER.
  private static let identifiers: [(KeyAlgorithm, [UInt8])] = [
    (
      .ec(.p256),
      [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03, 0x01, 0x07,
      ]
    ), (.ed25519, [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]),
  ]

  /// Nil for a key of another kind.
  static func algorithm(of key: SharedSecret) -> KeyAlgorithm? {
    key.bytes.withUnsafeBytes { bytes in
      // A sequence of one or two bytes of length, the version and the algorithm.
      guard bytes.count > 6, bytes[0] == 0x30 else { return nil }
      let head = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F)
      guard head <= 4 else { return nil }
      let rest = bytes[(head + 3)...]
      return identifiers.first { rest.starts(with: $0.1) }?.0
    }
  }
}
