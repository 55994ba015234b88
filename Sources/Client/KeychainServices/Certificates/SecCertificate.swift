// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import Keys

/// An X.509 certificate. Certificates with the same bytes are equal. Nothing here decides whether to trust it.
public final class SecCertificate: NSObject, Sendable {
  let certificate: Certificate

  init(_ certificate: Certificate) { self.certificate = certificate }

  /// Whether both are the same certificate, byte for byte.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? SecCertificate)?.certificate == certificate
  }

  /// The same for equal certificates.
  public override var hash: Int { certificate.hashValue }

  /// The summary of its subject.
  public override var description: String { "<SecCertificate: \(certificate.summary ?? "no subject")>" }
}

/// Reads a certificate.
///
/// - Parameters:
///   - allocator: ignored.
///   - data: one certificate in DER, of at most 64 KiB; PEM is not supported.
/// - Returns: nil for anything else.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
  guard data.length <= Certificate.limit else { return nil }
  return Certificate(der: Array(data as Data)).map { SecCertificate($0) }
}

/// The certificate in DER, as it was read.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
  NSData(data: Data(certificate.certificate.der))
}

/// A short name of the subject: its common name, else an email address, a DNS name, the unit or the organization. Nil
/// where the certificate has none of these.
///
/// For display only, never for decisions: the maker of the certificate chose it.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
  certificate.certificate.summary.map { $0 as NSString }
}

/// The public key. Nil unless it is RSA with 2048 to 4096 bits or on P-256, P-384 or P-521.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
  certificate.certificate.publicKey.map { SecKey($0) }
}

/// The subject's common name; the last where it has several.
///
/// - Returns: `errSecItemNotFound`, with nil in `commonName`, where it has none.
@discardableResult
public func SecCertificateCopyCommonName(
  _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
  let name = certificate.certificate.subject.texts(.commonName).last
  commonName.pointee = name.map { $0 as NSString }
  return name == nil ? errSecItemNotFound : errSecSuccess
}

/// The email addresses, of the subject alternative name and then of the subject; an empty array where there are none.
@discardableResult
public func SecCertificateCopyEmailAddresses(
  _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
  emailAddresses.pointee = certificate.certificate.emailAddresses.map { $0 as NSString } as NSArray
  return errSecSuccess
}

/// The serial number: the content of its DER integer, big-endian.
///
/// - Parameters:
///   - certificate: the certificate.
///   - error: never set; every certificate has one.
@discardableResult
public func SecCertificateCopySerialNumberData(
  _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { NSData(data: Data(certificate.certificate.serialNumber)) }

/// The issuer's name in DER, in the form in which names are compared. Never nil; optional as Apple's is.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
  NSData(data: Data(certificate.certificate.issuer.normalized))
}

/// The subject's name in DER, in the form in which names are compared. Never nil; optional as Apple's is.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
  NSData(data: Data(certificate.certificate.subject.normalized))
}

/// The start of the certificate's validity. Never nil; optional as Apple's is.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
  NSDate(timeIntervalSince1970: Double(certificate.certificate.notBefore))
}

/// The end of the certificate's validity. Never nil; optional as Apple's is.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
  NSDate(timeIntervalSince1970: Double(certificate.certificate.notAfter))
}

extension SecCertificate: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecCertificateGetTypeID() }
}

/// The identifier of certificates.
@discardableResult
public func SecCertificateGetTypeID() -> CFTypeID { 303 }
