internal import CBOR

/// `pinUvAuthParam` with its protocol: authenticates a request with a token.
struct TokenProof: Sendable, Hashable {
  let version: PINProtocol
  let mac: [UInt8]

  /// Nil if the request has none.
  init?(_ fields: CTAPFields, mac macKey: CBORValue, version versionKey: CBORValue) throws(CTAPStatus) {
    guard let mac = try fields.optional(macKey, \.byteString) else { return nil }
    self.mac = mac
    version = try PINProtocol(number: try fields.required(versionKey, \.integer))
  }
}

extension PINProtocol {
  init(number: Int) throws(CTAPStatus) {
    guard let version = Self(rawValue: number) else { throw .invalidParameter }
    self = version
  }
}
