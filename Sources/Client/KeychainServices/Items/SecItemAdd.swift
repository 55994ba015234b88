// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import Keys
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// Adds an item. Never asks for anything.
///
/// - Parameters:
///   - attributes: the class, the attributes, the secret (`kSecValueData` or, for a key, a certificate or an identity,
///     `kSecValueRef`), its protection, and what to return. For an identity, the certificate is added; its private key
///     is in the store already.
///   - result: set to what `kSecReturn…` asks for.
/// - Returns: `errSecDuplicateItem` where there is a living item with the same primary attributes. One whose set is
///   gone is replaced.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    if let identity = try IdentityQuery(attributes) { return try identity.add(result) }
    let query = try KeychainQuery(attributes)
    guard query.returns.isEmpty || result != nil else { throw .parameter }
    guard !query.mentionsMatching, query.interaction != .skip else { throw .parameter }
    guard !query.namesStoredKey else { throw KeychainFailure(errSecDuplicateItem) }
    guard query.ids == nil else { throw .parameter }
    let (item, secret) = try query.newItem()
    let returnsData = query.returns.contains(.data)
    // A key that is only used in the vault cannot be returned as data.
    guard !returnsData || !item.access.flags.contains(.privateKeyUsage) else {
      throw KeychainFailure(errSecUnimplemented)
    }
    let context = query.context
    let added = try call { store throws(VaultError) in
      try await store.add(item, secret: secret.copy(), using: context)
    }
    guard let result, !query.returns.isEmpty else { return }
    let given: ResultRow.Secret =
      item.itemClass == .certificate
      ? .certificate(try query.certificateToAdd()) : .given(returnsData ? secret.bytes.data() as Data : Data())
    let row = ResultRow(item: added, secret: given, returns: query.returns, context: context, reason: query.reason)
    result.pointee = row.object
  }
}

extension KeychainQuery {
  /// The item to add.
  ///
  /// - Throws: `errSecParam` for an invalid item.
  func newItem() throws(KeychainFailure) -> (NewItem, SharedSecret) {
    guard let itemClass else { throw .parameter }
    var attributes = attributes
    let secret: SharedSecret
    guard certificate == nil || itemClass == .certificate else { throw .parameter }
    if itemClass == .certificate {
      let certificate = try certificateToAdd()
      attributes = try CertificateAttributes.stored(attributes, certificate)
      secret = SharedSecret(SecretBytes(Data(certificate.der)))
    } else if let key {
      guard itemClass == .key, self.secret == nil else { throw .parameter }
      attributes.merge(key.attributes) { own, _ in own }
      secret = try key.material()
    } else {
      secret = SharedSecret(SecretBytes(self.secret ?? Data()))
      if itemClass == .key { attributes.merge(KeyAttributes.read(attributes, secret.bytes)) { own, _ in own } }
    }
    for (name, isOther) in isOtherForm where isOther { attributes[name.mark] = .number(1) }
    let protection = try settledProtection() ?? .whenUnlocked
    attributes[.accessible] = .text(protection.rawValue)
    switch synchronizable {
    case nil, .no: break
    case .yes: attributes[.synchronizable] = .number(1)
    case .any: throw .parameter
    }
    var access = accessControl?.access ?? .none
    if let key, key.staysInVault { access = try access.with(.privateKeyUsage) }
    let item = NewItem(itemClass, attributes, access: access, accessibility: protection.accessibility)
    return (item, secret)
  }

  /// The protection that the query gives; nil if it gives none.
  ///
  /// - Throws: `errSecParam` for two protections, and for a constrained item that is to be synchronizable.
  func settledProtection() throws(KeychainFailure) -> Protection? {
    guard accessControl == nil || protection == nil else { throw .parameter }
    // "This device only" is allowed with synchronizable: Apple's call accepts it, and wrappers make such items.
    guard synchronizable != .yes || accessControl?.isConstrained != true else { throw .parameter }
    return accessControl?.protection ?? protection
  }
}

extension AccessControl {
  /// The same access control with one more flag.
  func with(_ flag: Flags) throws(KeychainFailure) -> AccessControl {
    do throws(VaultError) {
      return try AccessControl(flags.union(flag))
    } catch {
      throw KeychainFailure(error)
    }
  }
}
