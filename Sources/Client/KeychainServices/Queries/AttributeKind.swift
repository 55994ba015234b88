// The attributes of items: which kind of value each has, and how it is read and answered.

internal import Foundation
internal import Keys
internal import SecretModel

/// The kind of an attribute's values, and the classes that have it:
///
/// | given | for an attribute of | taken as | comes back as |
/// | --- | --- | --- | --- |
/// | text | text | itself | text |
/// | data | text | text, where it is UTF-8; else itself | data |
/// | data | bytes | itself | data |
/// | text | bytes | its UTF-8 | text |
/// | a number or a Boolean | a number or a Boolean | the number | a number |
/// | text that is a number | a number | the number | a number |
/// | other text | a number | itself | text |
/// | text or a number | a code, such as `kSecAttrKeyTypeRSA` or 42 | text | text |
/// | a date | a date | itself | a date |
/// | a whole X.501 name in DER, or its normalized content | an X.501 name | its normalized content | data |
/// | anything else | | `errSecParam` | |
/// | anything | an attribute the class does not have | `errSecNoSuchAttr` | |
enum AttributeKind {
  case text
  /// Text that clients never give as data.
  case name
  case bytes
  case number
  /// One of a set of names, some of which look like numbers.
  case code
  case truth
  case date
  /// An X.501 name, which is kept normalized.
  case distinguishedName

  /// The kind of an attribute. Nil where the class does not have it; without a class, all classes are searched.
  static func of(_ key: String, in itemClass: ItemClass?) -> AttributeKind? {
    if let itemClass { return rows[itemClass]?[key] }
    return ItemClass.allCases.lazy.compactMap { rows[$0]?[key] }.first
  }

  func read(_ value: Any) throws(KeychainFailure) -> AttributeValue {
    switch self {
    case .text: try AttributeReading.textOrData(value)
    case .name: .text(try AttributeReading.text(value))
    case .bytes: .bytes(try AttributeReading.bytes(value))
    case .number: try AttributeReading.number(value)
    case .code: .text(try AttributeReading.code(value))
    case .truth: .number(try AttributeReading.truth(value) ? 1 : 0)
    case .date: .date(try AttributeReading.date(value).timeIntervalSinceReferenceDate)
    case .distinguishedName: .bytes(AttributeReading.distinguishedName(try AttributeReading.bytes(value)))
    }
  }

  /// Whether a value was given as text and is stored as data, or the other way round. It is then converted back for
  /// clients.
  func isKeptAsAnother(_ value: Any, _ kept: AttributeValue) -> Bool {
    guard hasTwoForms else { return false }
    return switch kept {
    case .text: value is Data
    case .bytes: value is String
    case .number, .date: false
    }
  }

  /// Whether values of this kind may be given as text or data.
  var hasTwoForms: Bool {
    switch self {
    case .text, .bytes: true
    case .name, .number, .code, .truth, .date, .distinguishedName: false
    }
  }

  private static let shared: [String: AttributeKind] = ["agrp": .name, "labl": .text, "crtr": .number]

  private static let passwords: [String: AttributeKind] = [
    "desc": .text, "icmt": .text, "acct": .text, "type": .number, "invi": .truth, "nega": .truth, "scrp": .number,
    "cusi": .truth, "alis": .bytes,
  ]

  private static let rows: [ItemClass: [String: AttributeKind]] = [
    .genericPassword: shared.merging(passwords) { $1 }.merging(["svce": .text, "gena": .bytes]) { $1 },
    .internetPassword: shared.merging(passwords) { $1 }.merging([
      "sdmn": .text, "srvr": .text, "path": .text, "ptcl": .code, "atyp": .code, "port": .number,
    ]) { $1 },
    .key: shared.merging([
      "kcls": .code, "type": .code, "klbl": .bytes, "atag": .bytes, "bsiz": .number, "esiz": .number, "sdat": .date,
      "edat": .date, "tkid": .name, "perm": .truth, "priv": .truth, "modi": .truth, "sens": .truth, "asen": .truth,
      "extr": .truth,
      "next": .truth, "encr": .truth, "decr": .truth, "drve": .truth, "sign": .truth, "vrfy": .truth, "snrc": .truth,
      "vyrc": .truth, "wrap": .truth, "unwp": .truth,
    ]) { $1 },
    .certificate: shared.merging([
      "subj": .distinguishedName, "issr": .distinguishedName, "slnr": .bytes, "skid": .bytes, "pkhh": .bytes,
      "ctyp": .number, "cenc": .number, "alis": .bytes,
    ]) { $1 },
  ]
}

/// Reads the values of a client's dictionary. All functions throw `errSecParam` for a wrong type.
enum AttributeReading {
  static func text(_ value: Any) throws(KeychainFailure) -> String {
    guard let text = value as? String else { throw .parameter }
    return text
  }

  /// Reads text. Some clients give accounts and services as data, which mean the same items as text.
  static func textOrData(_ value: Any) throws(KeychainFailure) -> AttributeValue {
    guard let data = value as? Data else { return .text(try text(value)) }
    return String(data: data, encoding: .utf8).map { .text($0) } ?? .bytes(Array(data))
  }

  static func bytes(_ value: Any) throws(KeychainFailure) -> [UInt8] {
    if let data = value as? Data { return Array(data) }
    guard let text = value as? String else { throw .parameter }
    return Array(text.utf8)
  }

  /// Normalizes a whole name and drops its header. Other bytes are taken for normalized content.
  static func distinguishedName(_ bytes: [UInt8]) -> [UInt8] {
    DistinguishedName(der: bytes)?.normalizedContent ?? bytes
  }

  static func number(_ value: Any) throws(KeychainFailure) -> AttributeValue {
    if let number = value as? NSNumber { return .number(number.int64Value) }
    guard let text = value as? String else { throw .parameter }
    if let number = Int64(text), String(number) == text { return .number(number) }
    return .text(text)
  }

  static func code(_ value: Any) throws(KeychainFailure) -> String {
    switch try number(value) {
    case .number(let number): String(number)
    case .text(let text): text
    case .bytes, .date: throw .parameter
    }
  }

  static func truth(_ value: Any) throws(KeychainFailure) -> Bool {
    guard let number = value as? NSNumber else { throw .parameter }
    return number.boolValue
  }

  static func date(_ value: Any) throws(KeychainFailure) -> Date {
    guard let date = value as? Date else { throw .parameter }
    return date
  }
}

extension Item {
  /// The attributes under Apple's names, as a dictionary that a program may change and pass back.
  var attributeDictionary: NSMutableDictionary {
    let dictionary = NSMutableDictionary(capacity: attributes.count + 8)
    for (name, value) in attributes where !name.isOwn {
      dictionary.setObject(
        attributes[name.mark] == nil ? value.object : value.otherForm, forKey: name.rawValue as NSString)
    }
    if let itemClass {
      for name in itemClass.attributesNeverAbsent where attributes[name] == nil {
        dictionary.setObject("" as NSString, forKey: name.rawValue as NSString)
      }
      dictionary.setObject(itemClass.rawValue as NSString, forKey: kSecClass)
    }
    dictionary.setObject(NSNumber(value: isSynchronizable), forKey: kSecAttrSynchronizable)
    dictionary.setObject(protection.rawValue as NSString, forKey: kSecAttrAccessible)
    dictionary.setObject(SecAccessControl(protection: protection, access: access), forKey: kSecAttrAccessControl)
    dictionary.setObject(NSDate(timeIntervalSince1970: created), forKey: kSecAttrCreationDate)
    dictionary.setObject(NSDate(timeIntervalSince1970: modified), forKey: kSecAttrModificationDate)
    return dictionary
  }

  var isSynchronizable: Bool { attributes[.synchronizable] == .number(1) }

  /// The protection in Apple's terms, which items of the command line do not store.
  var protection: Protection {
    if case .text(let raw)? = attributes[.accessible], let known = Protection(rawValue: raw) { return known }
    return switch accessibility {
    case .whenUnlocked: .whenUnlocked
    case .afterFirstUnlock: .afterFirstUnlock
    case .passcodeSet: .whenPasscodeSetThisDeviceOnly
    }
  }
}

extension ItemClass {
  /// The text attributes of the primary key. In Apple's store they are empty rather than absent.
  fileprivate var attributesNeverAbsent: [AttributeName] {
    switch self {
    case .genericPassword: [.account, .service]
    case .internetPassword: [.account, .securityDomain, .server, .path]
    case .key, .certificate, .passkey: []
    }
  }
}

extension AttributeName {
  /// The attribute that marks that this one was given in another form than it is stored in.
  var mark: AttributeName { AttributeName(rawValue: "whorl.form.\(rawValue)") }

  /// Whether it is internal to the library and hidden from clients.
  var isOwn: Bool { rawValue.hasPrefix("whorl.") }
}

extension AttributeValue {
  /// Text converted to data, or data to text.
  fileprivate var otherForm: NSObject {
    switch self {
    case .text(let text): NSData(data: Data(text.utf8))
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self) as NSString
    case .number, .date: object
    }
  }

  /// The value as clients get it.
  var object: NSObject {
    switch self {
    case .text(let text): text as NSString
    case .bytes(let bytes): NSData(data: Data(bytes))
    case .number(let number): NSNumber(value: number)
    case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
    }
  }
}
