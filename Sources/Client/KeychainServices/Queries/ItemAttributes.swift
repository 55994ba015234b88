internal import Foundation
internal import SecretModel

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
