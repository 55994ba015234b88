internal import Foundation
internal import Keys
internal import SecretModel

/// The attributes that are derived from a certificate itself.
enum CertificateAttributes {
  /// `CSSM_CERT_ENCODING_DER`
  private static let encodingDER: Int64 = 3

  /// The attributes for finding a stored certificate. Names are normalized and without their outer header, as in
  /// Apple's store.
  static func of(_ certificate: Certificate) -> [AttributeName: AttributeValue] {
    var attributes: [AttributeName: AttributeValue] = [
      .certificateType: .number(Int64(certificate.version)), .certificateEncoding: .number(encodingDER),
      .issuer: .bytes(certificate.issuer.normalizedContent), .subject: .bytes(certificate.subject.normalizedContent),
      .serialNumber: .bytes(certificate.serialNumber), .publicKeyHash: .bytes(certificate.publicKeyHash),
      .certificateDigest: .bytes(Digest.sha256(certificate.der)),
    ]
    attributes[.subjectKeyID] = certificate.subjectKeyID.map { .bytes($0) }
    return attributes
  }

  /// The attributes that identify one certificate.
  static func conditions(_ certificate: Certificate) -> [AttributeName: AttributeValue] {
    of(certificate).filter { [.issuer, .serialNumber, .certificateDigest].contains($0.key) }
  }

  /// The attributes of a new stored certificate: the given ones, which must not contradict the certificate, and its
  /// own. The label is its summary unless another is given.
  static func stored(_ given: [AttributeName: AttributeValue], _ certificate: Certificate) throws(KeychainFailure)
    -> [AttributeName: AttributeValue]
  {
    let own = of(certificate)
    for name in derived {
      guard let value = given[name] else { continue }
      guard value == own[name] else {
        throw KeychainFailure(errSecParam, "the attribute \(name.rawValue) is not that of the certificate")
      }
    }
    var attributes = given.merging(own) { $1 }
    if attributes[.label] == nil { attributes[.label] = certificate.summary.map { .text($0) } }
    return attributes
  }

  /// Refuses a change that contradicts the certificate, or that would protect it: a certificate is not secret.
  static func check(_ change: ItemChange, replacesData: Bool, of items: [Item]) throws(VaultError) {
    guard items.contains(where: { $0.itemClass == .certificate }) else { return }
    guard !replacesData, change.attributes.keys.allSatisfy({ !derived.contains($0) }) else {
      throw .invalidRequest("the bytes of a certificate and the attributes in them cannot be changed")
    }
    guard change.access?.isConstrained != true else { throw .invalidRequest(Self.asksForNobody) }
  }

  static let asksForNobody = "a certificate is public, and its access control cannot ask for a person"

  private static let derived: [AttributeName] = [
    .certificateType, .certificateEncoding, .issuer, .subject, .serialNumber, .subjectKeyID, .publicKeyHash,
  ]
}

extension AttributeName {
  /// `kSecAttrCertificateEncoding`
  static let certificateEncoding = Self(rawValue: "cenc")
  /// `kSecAttrSubjectKeyID`
  static let subjectKeyID = Self(rawValue: "skid")
  /// SHA-256 of a certificate; Whorl's own. Issuer and serial number are not enough: somebody may make a second
  /// certificate with the same ones.
  static let certificateDigest = Self(rawValue: "whorl.certificate")
}

extension KeychainQuery {
  /// The certificate of an item to be added.
  ///
  /// - Throws: `errSecDecode` for bytes that are no certificate.
  func certificateToAdd() throws(KeychainFailure) -> Certificate {
    guard accessControl?.isConstrained != true else {
      throw KeychainFailure(errSecParam, CertificateAttributes.asksForNobody)
    }
    switch (certificate, secret) {
    case (let certificate?, nil): return certificate
    case (nil, let data?):
      guard let certificate = Certificate(der: Array(data)) else {
        throw KeychainFailure(errSecDecode, "not a certificate in DER")
      }
      return certificate
    default: throw .parameter
    }
  }
}
