internal import CBOR
internal import SecretModel

/// The entities of WebAuthn in requests.
enum CredentialEntities {
  /// Names are truncated to this number of bytes.
  static let nameLimit = 64
  static let handleLimit = 64
  static let type: CBORValue = "public-key"

  /// Checks the ID in `rp`, or the parameter `rpId`.
  static func relyingParty(_ text: String) throws(CTAPStatus) -> RelyingPartyID {
    guard let id = RelyingPartyID(text) else { throw .invalidParameter }
    return id
  }

  /// Reads `user`.
  static func user(_ fields: CTAPFields) throws(CTAPStatus) -> Passkey.User {
    let handle = try fields.required("id", \.byteString)
    guard (1...handleLimit).contains(handle.count) else { throw .invalidLength }
    return Passkey.User(
      handle: handle, name: truncated(try fields.optional("name", \.string) ?? ""),
      displayName: truncated(try fields.optional("displayName", \.string) ?? ""))
  }

  /// The IDs in a list of credential descriptors. Those of other types are left out.
  static func identifiers(_ list: [CBORValue]) throws(CTAPStatus) -> [[UInt8]] {
    var identifiers: [[UInt8]] = []
    for element in list {
      let fields = try CTAPFields(element)
      let (id, type) = (try fields.required("id", \.byteString), try fields.required("type", \.string))
      if .text(type) == Self.type { identifiers.append(id) }
    }
    return identifiers
  }

  static func descriptor(_ credentialID: [UInt8]) -> CBORValue { ["id": .bytes(credentialID), "type": type] }

  static func value(of user: Passkey.User) -> CBORValue {
    var entries: [CBORValue: CBORValue] = ["id": .bytes(user.handle)]
    // Imported passkeys may have longer names than a request can give.
    if !user.name.isEmpty { entries["name"] = .text(truncated(user.name)) }
    if !user.displayName.isEmpty { entries["displayName"] = .text(truncated(user.displayName)) }
    return .map(entries)
  }

  /// At most 64 bytes, cut between two characters.
  static func truncated(_ text: String) -> String {
    var count = 0
    return String(
      text.prefix {
        count += $0.utf8.count
        return count <= nameLimit
      })
  }
}
