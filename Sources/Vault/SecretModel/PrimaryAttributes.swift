/// The attributes that identify a living item, unique in a store. An absent attribute equals an empty one.
package struct PrimaryAttributes: Sendable, Hashable {
  private let itemClass: ItemClass
  private let values: [AttributeValue?]

  package init(of itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) {
    self.itemClass = itemClass
    values = itemClass.primaryAttributes.map { name in attributes[name].flatMap { $0.isEmpty ? nil : $0 } }
  }
}

extension ItemClass {
  /// The attributes that identify an item of the class: Apple's primary keys.
  package var primaryAttributes: [AttributeName] {
    switch self {
    case .genericPassword: Primary.ofGenericPasswords
    case .internetPassword: Primary.ofInternetPasswords
    case .key: Primary.ofKeys
    case .certificate: Primary.ofCertificates
    case .passkey: Primary.ofPasskeys
    }
  }

  /// Constants, since every read of an item needs one.
  private enum Primary {
    static let ofGenericPasswords: [AttributeName] = [.account, .service] + ofAll
    static let ofInternetPasswords: [AttributeName] =
      [.account, .securityDomain, .server, .networkProtocol, .authenticationType, .port, .path] + ofAll
    static let ofKeys: [AttributeName] =
      [
        .keyClass, .keyType, .applicationLabel, .applicationTag, .keySizeInBits, .effectiveKeySize, .creator,
        .startDate, .endDate,
      ] + ofAll
    static let ofCertificates: [AttributeName] = [.certificateType, .issuer, .serialNumber] + ofAll
    static let ofPasskeys: [AttributeName] = [.credentialID] + ofAll
    private static let ofAll: [AttributeName] = [.accessGroup, .synchronizable]
  }
}

extension AttributeValue {
  /// Whether the value counts as absent among primary attributes.
  package var isEmpty: Bool {
    switch self {
    case .text(let text): text.isEmpty
    case .bytes(let bytes): bytes.isEmpty
    case .number(let number): number == 0
    case .date: false
    }
  }
}
