internal import Foundation
internal import KeySchemes
internal import Keys
internal import SecretModel

/// The parameters of a new key, parsed.
struct KeyRequest {
  /// Whether and how one half of the pair is stored.
  struct Half {
    var isPermanent: Bool
    var query: KeychainQuery
  }

  let algorithm: KeyAlgorithm
  let staysInVault: Bool
  let isOfSecureEnclave: Bool
  let privateKey: Half
  let publicKey: Half

  init(_ parameters: CFDictionary) throws(KeychainFailure) {
    let common = NSMutableDictionary()
    var own: [String: NSDictionary] = [:]
    for (key, value) in parameters {
      guard let key = key as? String else { throw .parameter }
      switch key {
      case "private", "public":
        guard let values = parameters.object(forKey: key as NSString) as? NSDictionary else { throw .parameter }
        own[key] = values
      default: common.setObject(value, forKey: key as NSString)
      }
    }
    let shared = try KeychainQuery(common, assuming: .key)
    algorithm = try Self.algorithm(shared.attributes)
    var privateHalf = try Self.half(common, own["private"])
    // Attributes for both halves are stored with the private key alone.
    var publicHalf = try Self.half(NSDictionary(), own["public"])
    let access = privateHalf.query.accessControl?.access ?? .none
    switch privateHalf.query.attributes[.tokenID] {
    case nil: isOfSecureEnclave = false
    case .text("com.apple.setoken"):
      guard algorithm == .ec(.p256) else {
        throw KeychainFailure(errSecParam, "a key of the secure enclave is a P-256 key")
      }
      isOfSecureEnclave = true
    default: throw KeychainFailure(errSecParam, "there is no such token")
    }
    staysInVault = isOfSecureEnclave || access.flags.contains(.privateKeyUsage)
    // Outside the store an access control cannot protect the key.
    guard privateHalf.isPermanent || !access.isConstrained else {
      throw KeychainFailure(errSecUnimplemented, "a key whose use needs a prompt has to be permanent")
    }
    for name in [AttributeName.keyType, .keySizeInBits, .keyClass] {
      privateHalf.query.attributes[name] = nil
      publicHalf.query.attributes[name] = nil
    }
    publicHalf.query.attributes[.tokenID] = nil
    privateKey = privateHalf
    publicKey = publicHalf
  }

  private static func half(_ common: NSDictionary, _ own: NSDictionary?) throws(KeychainFailure) -> Half {
    let all = NSMutableDictionary()
    for part in [common, own ?? NSDictionary()] {
      for (key, value) in part {
        guard let key = key as? String else { throw .parameter }
        all.setObject(value, forKey: key as NSString)
      }
    }
    let query = try KeychainQuery(all, assuming: .key)
    return Half(isPermanent: query.attributes[.isPermanent] == .number(1), query: query)
  }

  private static func algorithm(_ attributes: [AttributeName: AttributeValue]) throws(KeychainFailure) -> KeyAlgorithm {
    guard case .text(let type)? = attributes[.keyType], let family = KeyAttributes.family(of: type) else {
      throw KeychainFailure(errSecParam, "kSecAttrKeyType is not a known type")
    }
    var bits: Int64?
    if case .number(let number)? = attributes[.keySizeInBits] { bits = number }
    let algorithm: KeyAlgorithm? =
      switch (family, bits) {
      case (.ec, 256), (.ec, nil): .ec(.p256)
      case (.ec, 384): .ec(.p384)
      case (.ec, 521): .ec(.p521)
      case (.rsa, nil): .rsa(bits: 2048)
      case (.rsa, let bits?): .rsa(bits: Int(clamping: bits))
      default: nil
      }
    guard let algorithm, algorithm.isSupported else {
      throw KeychainFailure(errSecParam, "keys of this size are not supported")
    }
    return algorithm
  }
}
