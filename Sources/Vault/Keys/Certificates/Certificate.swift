internal import COpenSSL
internal import Glibc
internal import Primitives

/// An X.509 certificate (RFC 5280), parsed into plain values. It is not validated: no signature, date or purpose is
/// checked.
package struct Certificate: Sendable {
  /// The largest certificate that is read, in bytes. Those of public authorities have a few thousand.
  package static let limit = DistinguishedName.limit

  /// The whole certificate, exactly as it was given.
  package let der: [UInt8]

  /// The version of X.509: 1, 2 or 3.
  package let version: Int

  /// The issuer, who signed it.
  package let issuer: DistinguishedName

  /// The subject, for whom it was issued.
  package let subject: DistinguishedName

  /// The content of the DER integer: big-endian, in two's complement.
  package let serialNumber: [UInt8]

  /// The content of the subject key identifier extension (RFC 5280, section 4.2.1.2); nil without one.
  package let subjectKeyID: [UInt8]?

  /// SHA-1 of the bits of the public key; equals ``PublicKey/label`` of that key.
  package let publicKeyHash: [UInt8]

  /// The public key; nil for an algorithm, a size or a curve that ``PublicKey`` does not support.
  package let publicKey: PublicKey?

  /// The email addresses of the subject alternative name, then of the subject.
  package let emailAddresses: [String]

  /// The DNS names of the subject alternative name.
  package let dnsNames: [String]

  /// The start of its validity, in seconds since 1970.
  package let notBefore: Int

  /// The end of its validity, in seconds since 1970.
  package let notAfter: Int

  /// Parses one certificate in DER. Nil for anything else, and for more than ``limit`` bytes.
  package init?(der: [UInt8]) {
    guard let parsed = ParsedCertificate(der), let bits = parsed.publicKeyBits,
      let issuer = DistinguishedName(parsed.issuer), let subject = DistinguishedName(parsed.subject),
      let serialNumber = parsed.serialNumber, let version = parsed.version, let notBefore = parsed.notBefore,
      let notAfter = parsed.notAfter, let hash = try? HashFunction.sha1.digest(bits)
    else {
      // Discard libcrypto's errors, which are not needed.
      ERR_clear_error()
      return nil
    }
    self.der = der
    (self.version, self.issuer, self.subject, self.serialNumber) = (version, issuer, subject, serialNumber)
    (self.notBefore, self.notAfter) = (notBefore, notAfter)
    publicKeyHash = hash
    publicKey = parsed.publicKey(bits)
    subjectKeyID = parsed.subjectKeyID
    emailAddresses = parsed.alternativeNames(GEN_EMAIL) + subject.texts(.emailAddress)
    dnsNames = parsed.alternativeNames(GEN_DNS)
    ERR_clear_error()
  }

  /// A short name of the subject, chosen like `SecCertificateCopySubjectSummary`: the common name (followed by a
  /// description), else an email address, else a DNS name, else the unit, the organization or another attribute of the
  /// subject. Nil if there is none.
  package var summary: String? {
    guard let commonName = subject.joined(.commonName) else {
      return emailAddresses.first ?? dnsNames.first ?? subject.joined(.organizationalUnit)
        ?? subject.joined(.organization) ?? subject.joinedOthers
    }
    return subject.joined(.description).map { "\(commonName) (\($0))" } ?? commonName
  }
}

extension Certificate: Hashable {
  package static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }

  package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

/// Owns an `X509` for as long as it takes to read it.
private final class ParsedCertificate {
  /// `X509 *`, valid as long as this object.
  private let pointer: OpaquePointer

  init?(_ der: [UInt8]) {
    guard (1...Certificate.limit).contains(der.count) else { return nil }
    let parsed = der.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      // Reads the borrowed bytes; the result is transfer full.
      return d2i_X509(nil, &next, bytes.count)
    }
    guard let parsed else { return nil }
    pointer = parsed
    // Refuse trailing bytes, and encodings other than DER.
    guard encoded({ i2d_X509(parsed, $0) }) == der else { return nil }
  }

  deinit { X509_free(pointer) }

  var version: Int? {
    let version = X509_get_version(pointer) + 1
    return (1...3).contains(version) ? version : nil
  }

  /// `X509_NAME *`, the certificate's own.
  var issuer: OpaquePointer? { X509_get_issuer_name(pointer) }

  /// `X509_NAME *`, the certificate's own.
  var subject: OpaquePointer? { X509_get_subject_name(pointer) }

  var serialNumber: [UInt8]? {
    // The certificate's own.
    guard let number = X509_get0_serialNumber(pointer), let der = encoded({ i2d_ASN1_INTEGER(number, $0) }) else {
      return nil
    }
    return contentOfElement(der)
  }

  var subjectKeyID: [UInt8]? {
    // The certificate's own; NULL if there is none.
    X509_get0_subject_key_id(pointer).map { octets($0) }
  }

  var publicKeyBits: [UInt8]? {
    // The certificate's own.
    X509_get0_pubkey_bitstr(pointer).map { octets($0) }
  }

  func publicKey(_ bits: [UInt8]) -> PublicKey? {
    // The certificate's own; NULL for an algorithm that libcrypto does not have.
    guard let key = X509_get0_pubkey(pointer) else { return nil }
    let family: KeyFamily? =
      switch EVP_PKEY_get_base_id(key) {
      case EVP_PKEY_RSA: .rsa
      case EVP_PKEY_EC: .ec
      default: nil
      }
    guard let family, let publicKey = try? PublicKey(external: bits, family: family),
      // The bits do not contain the curve, so compare that, too. Both are borrowed.
      EVP_PKEY_eq(key, publicKey.handle.pointer) == 1
    else { return nil }
    return publicKey
  }

  var notBefore: Int? { seconds(X509_get0_notBefore(pointer)) }

  var notAfter: Int? { seconds(X509_get0_notAfter(pointer)) }

  private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
    var parts = tm()
    // Borrows the time, fills `parts`.
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return timegm(&parts)
  }

  /// The names of one kind in the subject alternative name, in its order.
  func alternativeNames(_ kind: Int32) -> [String] {
    // Transfer full; NULL if there is no such extension, more than one, or one that cannot be read.
    guard let extensionValue = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(extensionValue)
    defer { GENERAL_NAMES_free(names) }
    return (0..<OPENSSL_sk_num(names)).compactMap { index in
      // The list's own, as is what it holds.
      guard let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else { return nil }
      var found: Int32 = 0
      guard let value = GENERAL_NAME_get0_value(name, &found), found == kind else { return nil }
      return text(value.assumingMemoryBound(to: ASN1_STRING.self))
    }
  }

  /// A copy of the borrowed string's bytes.
  private func octets(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
    Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
  }
}
