internal import CBOR

/// `options` of makeCredential and getAssertion; nil for options that the request does not have.
struct CeremonyOptions: Sendable, Hashable {
  let residentKey: Bool?
  let userPresence: Bool?
  let userVerification: Bool?

  init(_ fields: CTAPFields?) throws(CTAPStatus) {
    residentKey = try fields?.optional("rk", \.boolean)
    userPresence = try fields?.optional("up", \.boolean)
    userVerification = try fields?.optional("uv", \.boolean)
  }
}

/// A `pinUvAuthParam`, or an empty one, with which old platforms let the user choose between authenticators.
enum EmptyOr<Value: Sendable & Hashable>: Sendable, Hashable {
  case empty
  case value(Value)
}

extension EmptyOr<TokenProof> {
  static func proof(_ fields: CTAPFields, mac: CBORValue, version: CBORValue) throws(CTAPStatus) -> Self? {
    if let bytes = try fields.optional(mac, \.byteString), bytes.isEmpty { return .empty }
    return try TokenProof(fields, mac: mac, version: version).map { .value($0) }
  }
}

enum ClientDataHash {
  static let count = 32

  static func read(_ fields: CTAPFields, _ key: CBORValue) throws(CTAPStatus) -> [UInt8] {
    let hash = try fields.required(key, \.byteString)
    guard hash.count == count else { throw .invalidLength }
    return hash
  }
}
