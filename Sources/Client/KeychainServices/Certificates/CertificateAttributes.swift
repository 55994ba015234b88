internal import Foundation
internal import Keys
internal import SecretModel

/// The attributes of a certificate that follow from the certificate itself.
enum CertificateAttributes {
  /// `CSSM_CERT_ENCODING_DER`
  private static let encodingDER: Int64 = 3

  /// What a stored certificate is found by. Names are normalized and without their outer header, as in Apple's store.
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

  /// The conditions that one certificate meets and no other.
  static func conditions(_ certificate: Certificate) -> [AttributeName: AttributeValue] {
    of(certificate).filter { [.issuer, .serialNumber, .certificateDigest].contains($0.key) }
  }

  /// The attributes of a certificate that is to be stored: those given, which may not contradict the certificate, and
  /// its own. Its label is its summary unless another is given.
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

  /// Refuses a change that a stored certificate would contradict afterwards, or that would protect it: its bytes are
  /// for everybody.
  static func check(_ change: ItemChange, replacesData: Bool, of items: [Item]) throws(VaultError) {
    guard items.contains(where: { $0.itemClass == .certificate }) else { return }
    guard !replacesData, change.attributes.keys.allSatisfy({ !derived.contains($0) }) else {
      throw .invalidRequest("what follows from a certificate's bytes cannot be changed")
    }
    guard change.access?.isConstrained != true else { throw .invalidRequest(Self.asksForNobody) }
  }

  static let asksForNobody = "a certificate is public, and asks for nobody"

  private static let derived: [AttributeName] = [
    .certificateType, .certificateEncoding, .issuer, .subject, .serialNumber, .subjectKeyID, .publicKeyHash,
  ]
}

extension AttributeName {
  /// `kSecAttrCertificateEncoding`
  static let certificateEncoding = Self(rawValue: "cenc")
  /// `kSecAttrSubjectKeyID`
  static let subjectKeyID = Self(rawValue: "skid")
  /// SHA-256 of a certificate; Whorl's own. Issuer and serial number alone name two where somebody has made a second.
  static let certificateDigest = Self(rawValue: "whorl.certificate")
}

extension KeychainQuery {
  /// The certificate that an item to be added is.
  ///
  /// - Throws: `errSecDecode` for bytes that are none.
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
