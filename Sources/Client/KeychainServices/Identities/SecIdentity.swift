// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import Keys
internal import SecretModel
internal import Whorl

/// A certificate and its private key. Identities with the same certificate and key are equal.
public final class SecIdentity: NSObject, Sendable {
  let certificate: SecCertificate
  let privateKey: SecKey

  init(_ certificate: SecCertificate, _ privateKey: SecKey) {
    self.certificate = certificate
    self.privateKey = privateKey
  }

  /// Whether certificate and key are the same.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecIdentity else { return false }
    return certificate.isEqual(other.certificate) && privateKey.isEqual(other.privateKey)
  }

  /// The same for equal identities.
  public override var hash: Int { certificate.hash }

  /// The summary of its subject, and the kind of its key.
  public override var description: String { "<SecIdentity: \(certificate), \(privateKey)>" }
}

/// The certificate of an identity.
@discardableResult
public func SecIdentityCopyCertificate(
  _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
  certificateRef.pointee = identityRef.certificate
  return errSecSuccess
}

/// The private key of an identity. Its access control is checked when the key is used, not now.
@discardableResult
public func SecIdentityCopyPrivateKey(
  _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
  privateKeyRef.pointee = identityRef.privateKey
  return errSecSuccess
}

/// The identity of a certificate, stored or not, whose private key is in the store.
///
/// - Parameters:
///   - keychainOrArray: ignored; there is one store.
///   - certificateRef: the certificate.
///   - identityRef: set to the identity; not changed where there is none.
/// - Returns: `errSecItemNotFound` where the private key is not in the store.
@discardableResult
public func SecIdentityCreateWithCertificate(
  _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
  status { () throws(KeychainFailure) in
    let key: [CFString: Any] = [
      kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
      kSecAttrApplicationLabel: Data(certificateRef.certificate.publicKeyHash),
      kSecAttrSynchronizable: kSecAttrSynchronizableAny,
    ]
    let search = try KeychainQuery(key as CFDictionary).search(limit: 1)
    let items = try call { store throws(VaultError) in try await store.foundItems(search) }
    let found = SecKey(items[0], context: nil, reason: nil)
    guard let publicKey = found.publicKey, publicKey == certificateRef.certificate.publicKey else {
      throw KeychainFailure(errSecItemNotFound)
    }
    identityRef.pointee = SecIdentity(certificateRef, found)
  }
}

extension SecIdentity: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecIdentityGetTypeID() }
}

/// The identifier of identities.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { 304 }
