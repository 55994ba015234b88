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
///     `kSecValueRef`), how it is protected, and what is to be returned of it. Of an identity the certificate is added;
///     its private key is in the store already.
///   - result: gets what `kSecReturn…` asks for.
/// - Returns: `errSecDuplicateItem` where an item with the same primary attributes lives; over one whose set is gone it
///   succeeds.
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
    // A key that is only used in the vault is nobody's data.
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
  /// - Throws: `errSecParam` for what cannot be one.
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

  /// How an item is to be protected, where the query says so.
  ///
  /// - Throws: `errSecParam` for two answers, and for what cannot be synchronizable.
  func settledProtection() throws(KeychainFailure) -> Protection? {
    guard accessControl == nil || protection == nil else { throw .parameter }
    // One that is for this device only may be synchronizable: Apple's call takes it too, and wrappers make such items.
    guard synchronizable != .yes || accessControl?.isConstrained != true else { throw .parameter }
    return accessControl?.protection ?? protection
  }
}

extension AccessControl {
  /// The same with a flag more.
  func with(_ flag: Flags) throws(KeychainFailure) -> AccessControl {
    do throws(VaultError) {
      return try AccessControl(flags.union(flag))
    } catch {
      throw KeychainFailure(error)
    }
  }
}
