/// What identifies a living item: no two of a store share it. An absent attribute and an empty one are the same.
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
    let own: [AttributeName] =
      switch self {
      case .genericPassword: [.account, .service]
      case .internetPassword:
        [.account, .securityDomain, .server, .networkProtocol, .authenticationType, .port, .path]
      case .key:
        [
          .keyClass, .keyType, .applicationLabel, .applicationTag, .keySizeInBits, .effectiveKeySize, .creator,
          .startDate, .endDate,
        ]
      case .certificate: [.certificateType, .issuer, .serialNumber]
      }
    return own + [.accessGroup, .synchronizable]
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
