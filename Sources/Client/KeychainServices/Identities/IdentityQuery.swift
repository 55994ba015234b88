internal import Foundation
internal import Keys
internal import SecretModel
internal import Whorl

/// A dictionary of `kSecClassIdentity`, read as two queries: for certificates and for private keys. An identity is not
/// an item, but a certificate and a private key whose `kSecAttrApplicationLabel` is the certificate's
/// `kSecAttrPublicKeyHash`.
///
/// As in Apple's store, the certificate identifies an identity. Attributes of certificates and the label are conditions
/// on the certificate; access group and synchronizability on both; all other attributes on the key.
struct IdentityQuery {
  var certificates: KeychainQuery
  var keys: KeychainQuery
  /// The identity to add.
  let identity: SecIdentity?

  /// Nil for a query of another class.
  init?(_ dictionary: CFDictionary) throws(KeychainFailure) {
    guard Self.isMeant(by: dictionary) else { return nil }
    let (certificate, key) = (NSMutableDictionary(), NSMutableDictionary())
    for (name, value) in dictionary {
      guard let name = name as? String else { throw .parameter }
      switch name {
      case "class": break
      case "v_Ref", "v_PersistentRef":
        let (name, value) = try Self.certificateReference(value)
        certificate[name] = value
      case "m_ItemList":
        guard let list = value as? [Any] else { throw .parameter }
        var certificates: [Any] = []
        for entry in list { certificates.append(try Self.certificateReference(entry).value) }
        certificate[name] = certificates
      case "v_Data": throw KeychainFailure(errSecParam, "an identity is given by its reference")
      case _ where Self.attributesOfCertificates.contains(name): certificate[name] = value
      case _ where Self.isOfBoth(name):
        certificate[name] = value
        key[name] = value
      default: key[name] = value
      }
    }
    certificate[kSecClass as String] = kSecClassCertificate
    key[kSecClass as String] = kSecClassKey
    certificates = try KeychainQuery(certificate)
    keys = try KeychainQuery(key)
    identity = dictionary.object(forKey: kSecValueRef) as? SecIdentity
  }

  static let attributesOfCertificates: Set<String> = [
    "labl", "subj", "issr", "slnr", "skid", "pkhh", "ctyp", "cenc",
  ]

  private static func isOfBoth(_ name: String) -> Bool {
    ["agrp", "sync", "nleg"].contains(name) || ["m_", "r_", "u_"].contains(name.prefix(2))
  }

  private static func isMeant(by dictionary: CFDictionary) -> Bool {
    if let itemClass = dictionary.object(forKey: kSecClass) {
      return itemClass as? String == kSecClassIdentity as String
    }
    let references = [kSecValueRef, kSecValuePersistentRef].compactMap { dictionary.object(forKey: $0) }
    let list = dictionary.object(forKey: kSecMatchItemList) as? [Any] ?? []
    return (references + list).contains { entry in
      entry is SecIdentity || (entry as? Data).flatMap { PersistentReference.certificate(ofIdentity: $0) } != nil
    }
  }

  /// The reference of an identity's certificate, and its key in a query.
  private static func certificateReference(_ value: Any) throws(KeychainFailure) -> (name: String, value: Any) {
    switch value {
    case let identity as SecIdentity: return (kSecValueRef as String, identity.certificate)
    case let data as Data:
      guard let id = PersistentReference.certificate(ofIdentity: data) else { throw .parameter }
      return (kSecValuePersistentRef as String, PersistentReference.data(id) as Data)
    default: throw .parameter
    }
  }
}

extension PersistentReference {
  private static let identityPrefix = Data("idnt".utf8)

  /// The persistent reference of the identity with this certificate.
  static func data(ofIdentity certificate: ItemID) -> NSData {
    NSData(data: identityPrefix + Data(certificate.bytes))
  }

  /// The certificate in a persistent reference of an identity; nil for any other reference.
  static func certificate(ofIdentity data: Data) -> ItemID? {
    data.starts(with: identityPrefix) ? item(Data(data.dropFirst(identityPrefix.count))) : nil
  }
}
