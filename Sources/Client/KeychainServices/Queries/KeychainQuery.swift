// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names are Apple's.

public import Foundation
internal import Keys
internal import SecretModel
internal import Whorl

/// A dictionary given to Keychain Services, parsed and checked. Unknown keys are refused and not ignored: an ignored
/// condition could delete more items than the program wanted.
struct KeychainQuery {
  /// How many items a search is to find.
  enum Limit: Equatable {
    case one
    case some(Int)
    case all
  }

  /// What to return.
  struct Returns: OptionSet {
    let rawValue: Int
    static let data = Self(rawValue: 1)
    static let attributes = Self(rawValue: 2)
    static let reference = Self(rawValue: 4)
    static let persistentReference = Self(rawValue: 8)
  }

  var itemClass: ItemClass?
  var attributes: [AttributeName: AttributeValue] = [:]
  /// For attributes that may be text or data: whether each was given in another form than it is stored in.
  var isOtherForm: [AttributeName: Bool] = [:]
  /// Nil where the dictionary does not say.
  var synchronizable: ItemSearch.Synchronizable?
  var protection: Protection?
  var accessControl: SecAccessControl?
  var created: Date?
  var modified: Date?

  /// The secret, in the client's memory, which is not wiped here.
  var secret: Data?
  var key: SecKey?
  var certificate: Certificate?
  /// Only these items.
  var ids: [ItemID]?
  /// Whether one of the ids comes from a key of the store.
  var namesStoredKey = false

  var limit: Limit?
  var ignoresCase = false
  var returns: Returns = []
  /// How to treat an item that requires authentication.
  var interaction = ItemSearch.Interaction.allow
  var context: AuthenticationContext?
  var reason: String?

  /// Whether the dictionary has a matching key, which only searches may have.
  var mentionsMatching = false
  /// Whether the dictionary has a condition that is ignored here.
  var hasIgnoredCondition = false

  /// - Parameter assumed: the class of a dictionary without one.
  /// - Throws: the status for an invalid dictionary.
  init(_ dictionary: CFDictionary, assuming assumed: ItemClass? = nil) throws(KeychainFailure) {
    // Copy all pairs at once: a lookup in a Foundation dictionary is slow.
    var pairs: [(key: String?, value: Any)] = []
    dictionary.enumerateKeysAndObjects { key, value, _ in pairs.append((key as? String, value)) }
    itemClass = try pairs.first { $0.key == "class" }.map { pair throws(KeychainFailure) in
      try Self.itemClass(pair.value)
    }
    // Determine the class first: the allowed attributes depend on it, and the pairs have no order.
    itemClass = itemClass ?? assumed ?? pairs.first { $0.key == "v_Ref" }.flatMap { Self.itemClass(of: $0.value) }
    for (key, value) in pairs {
      guard let key else { throw .parameter }
      try read(key, value)
    }
  }

  /// Reads a query that finds items. It must name a class or a reference.
  ///
  /// - Throws: `errSecParam` for a query that names neither.
  init(finding dictionary: CFDictionary) throws(KeychainFailure) {
    try self.init(dictionary)
    guard itemClass != nil || key != nil || certificate != nil || ids?.isEmpty == false else { throw .parameter }
  }

  /// Reads a query whose items are changed or deleted. No condition in it may be ignored.
  ///
  /// - Throws: `errSecParam` also for a condition that would be ignored, and for a limit of one.
  init(changing dictionary: CFDictionary) throws(KeychainFailure) {
    try self.init(finding: dictionary)
    guard !hasIgnoredCondition, interaction != .skip, limit == nil || limit == .all else { throw .parameter }
  }

  private static func itemClass(_ value: Any) throws(KeychainFailure) -> ItemClass {
    guard let name = value as? String else { throw .parameter }
    if let known = ItemClass(rawValue: name), known != .passkey { return known }
    switch name {
    case "apls": throw KeychainFailure(errSecUnimplemented)
    default: throw KeychainFailure(errSecNoSuchClass)
    }
  }

  /// The class of a reference's item, if the reference tells it.
  private static func itemClass(of reference: Any) -> ItemClass? {
    switch reference {
    case is SecKey: .key
    case is SecCertificate: .certificate
    default: nil
    }
  }

  private mutating func read(_ key: String, _ value: Any) throws(KeychainFailure) {
    switch key.prefix(2) {
    case "m_": try readMatching(key, value)
    case "r_": try readReturning(key, value)
    case "u_": try readUse(key, value)
    case "v_": try readValue(key, value)
    default: try readAttribute(key, value)
    }
  }

  private mutating func readMatching(_ key: String, _ value: Any) throws(KeychainFailure) {
    mentionsMatching = true
    switch key {
    case "m_Limit": limit = try Self.limit(value)
    case "m_CaseInsensitive": ignoresCase = try AttributeReading.truth(value)
    case "m_ItemList":
      guard let list = value as? [Any] else { throw .parameter }
      for entry in list { try restrict(to: entry) }
      if list.isEmpty { ids = ids ?? [] }
    // There is one store, so any non-empty list means it.
    case "m_SearchList": if let list = value as? [Any], list.isEmpty { throw .parameter }
    case _ where certificateConditions.contains(key): throw KeychainFailure(errSecUnimplemented)
    default: throw .parameter
    }
  }

  private static func limit(_ value: Any) throws(KeychainFailure) -> Limit {
    switch value as? String {
    case "m_LimitOne": return .one
    case "m_LimitAll": return .all
    default: break
    }
    guard let count = value as? NSNumber, count.intValue > 0 else { throw .parameter }
    return count.intValue == 1 ? .one : .some(count.intValue)
  }

  private mutating func readReturning(_ key: String, _ value: Any) throws(KeychainFailure) {
    let wanted = try AttributeReading.truth(value)
    let what: Returns
    switch key {
    case "r_Data": what = .data
    case "r_Attributes": what = .attributes
    case "r_Ref": what = .reference
    case "r_PersistentRef": what = .persistentReference
    default: throw .parameter
    }
    if wanted { returns.insert(what) }
  }

  private mutating func readUse(_ key: String, _ value: Any) throws(KeychainFailure) {
    switch key {
    case "u_OpPrompt": reason = try AttributeReading.text(value)
    // The newer key takes precedence, and may have been read already.
    case "u_NoAuthUI": if try AttributeReading.truth(value), interaction == .allow { interaction = .fail }
    case "u_AuthUI":
      switch value as? String {
      case "u_AuthUIA": break
      case "u_AuthUIF": interaction = .fail
      case "u_AuthUIS": interaction = .skip
      default: throw .parameter
      }
    case "u_AuthCtx":
      guard let holder = value as? any AuthenticationContextHolder else { throw .parameter }
      do throws(VaultError) {
        context = try holder.authenticationContext()
      } catch {
        throw KeychainFailure(error)
      }
      if reason == nil { reason = holder.keychainReason }
    // There is one store for one user, so these make no difference.
    case "u_Keychain", "u_UserIndependentKeychain", "u_SystemKeychain": break
    case "u_ItemList": throw KeychainFailure(errSecUnimplemented)
    default: throw .parameter
    }
  }

  private mutating func readValue(_ key: String, _ value: Any) throws(KeychainFailure) {
    switch key {
    case "v_Data":
      guard let data = value as? Data else { throw .parameter }
      secret = data
    case "v_Ref", "v_PersistentRef": try restrict(to: value)
    default: throw .parameter
    }
  }

  /// Narrows the search to a reference. Several ids mean several items; an id, a key and a certificate together mean
  /// the same item.
  private mutating func restrict(to reference: Any) throws(KeychainFailure) {
    switch reference {
    case let key as SecKey:
      if let id = key.storedItem {
        ids = (ids ?? []) + [id]
        namesStoredKey = true
      } else {
        self.key = key
      }
    case let reference as SecCertificate:
      guard certificate == nil else {
        throw KeychainFailure(errSecUnimplemented, "one query looks for one certificate")
      }
      certificate = reference.certificate
    case let item as SecKeychainItem: ids = (ids ?? []) + [item.id]
    case let data as Data:
      guard let id = PersistentReference.item(data) else { throw .parameter }
      ids = (ids ?? []) + [id]
    default: throw .parameter
    }
  }

  private mutating func readAttribute(_ key: String, _ value: Any) throws(KeychainFailure) {
    switch key {
    case "class", "nleg": break
    case "sync":
      synchronizable =
        value as? String == "syna" ? .any : try AttributeReading.truth(value) ? .yes : .no
    case "pdmn":
      guard let known = Protection(value) else { throw .parameter }
      protection = known
    case "accc":
      guard let control = value as? SecAccessControl else { throw .parameter }
      accessControl = control
    case "cdat": created = try AttributeReading.date(value)
    case "mdat": modified = try AttributeReading.date(value)
    // Attributes that Apple's results contain, and that programs pass back.
    case "tomb", "sha1", "musr", "UUID", "persistref", "vwht": hasIgnoredCondition = true
    default:
      guard let kind = AttributeKind.of(key, in: itemClass) else { throw KeychainFailure(errSecNoSuchAttr) }
      let name = AttributeName(rawValue: key)
      let kept = try kind.read(value)
      attributes[name] = kept
      if kind.hasTwoForms { isOtherForm[name] = kind.isKeptAsAnother(value, kept) }
    }
  }
}

/// The conditions that only certificates and identities can meet.
private let certificateConditions: Set<String> = [
  "m_Policy", "m_Issuers", "m_EmailAddressIfPresent", "m_SubjectContains", "m_SubjectStartsWith",
  "m_SubjectEndsWith", "m_SubjectWholeString", "m_DiacriticInsensitive", "m_WidthInsensitive", "m_TrustedOnly",
  "m_ValidOnDate",
]

/// The bytes of `kSecReturnPersistentRef`.
enum PersistentReference {
  static func data(_ id: ItemID) -> NSData { NSData(data: Data(id.bytes)) }

  /// Nil for bytes that are no reference of this store.
  static func item(_ data: Data) -> ItemID? { data.count == 16 ? ItemID(bytes: Array(data)) : nil }
}

/// The reference of a password, for `kSecReturnRef` and `kSecValueRef`. References of the same item are equal.
public final class SecKeychainItem: NSObject, Sendable {
  let id: ItemID

  init(_ id: ItemID) { self.id = id }

  /// Whether both name the same item.
  public override func isEqual(_ object: Any?) -> Bool { (object as? SecKeychainItem)?.id == id }

  /// The same for equal references.
  public override var hash: Int { id.hashValue }
}

extension SecKeychainItem: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecKeychainItemGetTypeID() }
}

/// The identifier of references of passwords.
@discardableResult
public func SecKeychainItemGetTypeID() -> CFTypeID { 301 }
