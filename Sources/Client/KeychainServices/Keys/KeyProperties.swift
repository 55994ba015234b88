// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import KeySchemes
internal import Keys
internal import SecretModel
internal import Whorl

/// The public key of a private key; for a public key, the key itself. Nil for a key that this module does not support.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
  key.isPrivate ? key.publicKey.map { SecKey($0) } : key
}

/// The bytes of a key: PKCS #1 for RSA; for a curve X9.63, `04 ‖ X ‖ Y` and for a private key `‖ K`.
///
/// - Returns: nil, with `errSecUnimplemented`, for a private key that is only used in the vault. Another private key in
///   the store asks for the same as reading its item does.
@discardableResult
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  value(error) { () throws(KeychainFailure) in
    if !key.isPrivate, let publicKey = key.publicKey { return NSData(data: Data(publicKey.external)) }
    guard !key.staysInVault else {
      throw KeychainFailure(errSecUnimplemented, "this key is used in the vault and never leaves it")
    }
    switch key.place {
    case .publicKey: throw .parameter
    case .memory(let holder, _): return try holder.external().data()
    case .store(let id, _, let context, let reason):
      let released = try call { store throws(VaultError) in
        try await store.secrets(of: [id], reason: reason, using: context)
      }
      return released[0].secret.data()
    }
  }
}

/// The attributes of a key: its class, type, size, label and possible uses, and the attributes of a stored key.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
  let dictionary = NSMutableDictionary()
  for (name, value) in key.attributes where !name.isOwn {
    dictionary.setObject(value.object, forKey: name.rawValue as NSString)
  }
  dictionary.setObject(kSecClassKey, forKey: kSecClass)
  dictionary.setObject(NSNumber(value: key.storedItem != nil), forKey: kSecAttrIsPermanent)
  return dictionary
}

/// The length of a coordinate of the curve, or of the modulus, in bytes.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.publicKey?.algorithm.blockCount ?? 0 }
