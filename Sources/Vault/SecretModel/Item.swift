package import Primitives

/// The kinds of items, under the raw names of `kSecClass`.
public enum ItemClass: String, Sendable, CaseIterable {
  /// A secret for a service, and perhaps an account there.
  case genericPassword = "genp"
  /// A password for a server on a network.
  case internetPassword = "inet"
  /// A cryptographic key.
  case key = "keys"
  /// An X.509 certificate. Its bytes are stored as an item's secret is, though nothing about it is secret.
  case certificate = "cert"
  /// A passkey: a credential of WebAuthn. Apple's Keychain Services have no such class.
  case passkey = "whorl.passkey"
}

/// The name of an item's attribute: the raw value of Apple's `kSecAttr…` constant.
public struct AttributeName: RawRepresentable, Sendable, Hashable, Comparable {
  /// The raw name, such as `acct`.
  public let rawValue: String

  /// Any name is valid: clients may keep attributes of their own.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The order of the raw names.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// `kSecAttrAccount`
  public static let account = Self(rawValue: "acct")
  /// `kSecAttrService`
  public static let service = Self(rawValue: "svce")
  /// `kSecAttrServer`
  public static let server = Self(rawValue: "srvr")
  /// `kSecAttrSecurityDomain`
  public static let securityDomain = Self(rawValue: "sdmn")
  /// `kSecAttrProtocol`
  public static let networkProtocol = Self(rawValue: "ptcl")
  /// `kSecAttrAuthenticationType`
  public static let authenticationType = Self(rawValue: "atyp")
  /// `kSecAttrPort`
  public static let port = Self(rawValue: "port")
  /// `kSecAttrPath`
  public static let path = Self(rawValue: "path")
  /// `kSecAttrLabel`
  public static let label = Self(rawValue: "labl")
  /// `kSecAttrAccessGroup`
  public static let accessGroup = Self(rawValue: "agrp")
  /// `kSecAttrSynchronizable`
  public static let synchronizable = Self(rawValue: "sync")
  /// `kSecAttrAccessible`
  public static let accessible = Self(rawValue: "pdmn")
  /// `kSecAttrKeyClass`
  public static let keyClass = Self(rawValue: "kcls")
  /// `kSecAttrKeyType`
  public static let keyType = Self(rawValue: "type")
  /// `kSecAttrKeySizeInBits`
  public static let keySizeInBits = Self(rawValue: "bsiz")
  /// `kSecAttrEffectiveKeySize`
  public static let effectiveKeySize = Self(rawValue: "esiz")
  /// `kSecAttrApplicationLabel`: for a key, SHA-1 of its public key.
  public static let applicationLabel = Self(rawValue: "klbl")
  /// `kSecAttrApplicationTag`
  public static let applicationTag = Self(rawValue: "atag")
  /// `kSecAttrCreator`
  public static let creator = Self(rawValue: "crtr")
  /// The start date of a key.
  public static let startDate = Self(rawValue: "sdat")
  /// The end date of a key.
  public static let endDate = Self(rawValue: "edat")
  /// `kSecAttrCertificateType`: the version of X.509, 1 to 3.
  public static let certificateType = Self(rawValue: "ctyp")
  /// `kSecAttrIssuer`: the issuer of a certificate, as a normalized X.501 name in DER without the outer header.
  public static let issuer = Self(rawValue: "issr")
  /// `kSecAttrSubject`: the subject of a certificate, in the form of ``issuer``.
  public static let subject = Self(rawValue: "subj")
  /// `kSecAttrSerialNumber`: the content of the DER integer.
  public static let serialNumber = Self(rawValue: "slnr")
  /// `kSecAttrPublicKeyHash`: SHA-1 of a certificate's public key; equals ``applicationLabel`` of the key.
  public static let publicKeyHash = Self(rawValue: "pkhh")
  /// A private key's public half, in the form of `SecKeyCopyExternalRepresentation`; Whorl's own.
  public static let publicKey = Self(rawValue: "whorl.public")
  /// The public half in SSH's form, of a key that was made or brought for SSH; Whorl's own.
  package static let sshPublicKey = Self(rawValue: "whorl.ssh")

  private static let lookupPrefix = "whorl.lookup."

  /// A client's own attribute by which items of class `genericPassword` are found without opening all of them.
  package static func lookup(_ name: String) -> Self { Self(rawValue: lookupPrefix + name) }

  /// The name that was given to ``lookup(_:)``; nil for every other attribute.
  package var lookup: String? {
    rawValue.hasPrefix(Self.lookupPrefix) ? String(rawValue.dropFirst(Self.lookupPrefix.count)) : nil
  }
}

/// The value of an attribute. Values of different kinds are never equal.
public enum AttributeValue: Sendable, Hashable {
  /// Text.
  case text(String)
  /// Data.
  case bytes([UInt8])
  /// A number, or a Boolean as 0 and 1.
  case number(Int64)
  /// Seconds since 2001, as Foundation counts.
  case date(Double)
}

/// Identifies an item for its whole life, whatever else about it changes: Apple's persistent reference.
public struct ItemID: Sendable, Hashable {
  /// Sixteen bytes.
  public let bytes: [UInt8]

  /// An ID from the ``bytes`` of an earlier one. Other bytes name no item.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// An item without its secret. Reading it needs no finger.
public struct Item: Sendable, Hashable, Identifiable {
  /// Whether an item's secret can still be read.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The secret can be read by a person who satisfies the access control.
    case living
    /// The enrolment set or the passcode that the item was bound to is gone. The secret is lost for good.
    case dead
    /// Its row was edited or damaged. Only its id is known, and it can only be removed.
    case damaged
  }

  /// Stays the same when the item is updated.
  public let id: ItemID
  /// Whether its secret can still be read.
  public let state: State
  /// The class of the item, which never changes. Nil only if the item is damaged.
  public let itemClass: ItemClass?
  /// The attributes, under Apple's raw names.
  public let attributes: [AttributeName: AttributeValue]
  /// What has to happen before its secret is given out.
  public let access: AccessControl
  /// When it is usable at all.
  public let accessibility: Accessibility
  /// Seconds since 1970.
  public let created: Double
  /// Seconds since 1970.
  public let modified: Double

  package init(
    id: ItemID, state: State, itemClass: ItemClass?, attributes: [AttributeName: AttributeValue],
    access: AccessControl, accessibility: Accessibility, created: Double, modified: Double
  ) {
    self.id = id
    self.state = state
    self.itemClass = itemClass
    self.attributes = attributes
    self.access = access
    self.accessibility = accessibility
    self.created = created
    self.modified = modified
  }
}

/// An item to be stored.
public struct NewItem: Sendable, Hashable {
  /// The longest secret, in bytes.
  public static let secretLimit = 1 << 20

  /// What kind of item it is.
  public var itemClass: ItemClass
  /// The attributes. Those that identify an item of the class are its primary attributes; an absent one counts as
  /// empty.
  public var attributes: [AttributeName: AttributeValue]
  /// What has to happen before its secret is given out.
  public var access: AccessControl
  /// When it is usable at all.
  public var accessibility: Accessibility

  /// An item readable without a finger unless `access` says otherwise.
  public init(
    _ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue], access: AccessControl = .none,
    accessibility: Accessibility = .whenUnlocked
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.access = access
    self.accessibility = accessibility
  }
}

/// A search for items that meet all of its conditions. It finds dead and damaged items only if ``states`` includes
/// them.
public struct ItemSearch: Sendable, Hashable {
  /// Selects items by their synchronizable attribute.
  public enum Synchronizable: String, Sendable, Hashable {
    /// Only items that are not synchronizable. The default.
    case no
    /// Only items that are synchronizable.
    case yes
    /// Both.
    case any
  }

  /// Selects items by their access group.
  public enum Groups: Sendable, Hashable {
    /// Items of every group.
    case all
    /// Items of these groups. Items of an earlier group are found first.
    case named([String])
  }

  /// The class of the items; nil for every class.
  public var itemClass: ItemClass?
  /// The access groups. With nil, a program that uses the library reads its own group and then the command line's, and
  /// deletes from its own alone; the command line searches every group.
  public var groups: Groups?
  /// Attributes and the values they must have.
  public var attributes: [AttributeName: AttributeValue]
  /// Only these items; nil for all.
  public var ids: [ItemID]?
  /// Whether items are synchronizable: shared with the other machines of the store's circle, if it is in one.
  public var synchronizable: Synchronizable
  /// Whether texts are compared without regard to case.
  public var ignoresCase: Bool
  /// The most items to find, the oldest first; nil for all.
  public var limit: Int?
  /// A pattern for ``Item/name``, in which `*` stands for any text and `?` for one character; nil for every name.
  public var pattern: String?
  /// The states an item may be in. The attributes of a damaged item cannot be read. It is found by its id, by a search
  /// with all of its primary attributes, and by a search without conditions.
  public var states: Set<Item.State>
  /// Only items made at this time, to the millisecond; seconds since 1970. Nil for any time.
  public var created: Double?
  /// Only items last changed at this time, to the millisecond; seconds since 1970. Nil for any time.
  public var modified: Double?
  /// How the search treats items whose secret needs a person to be asked.
  package var interaction = Interaction.allow
  /// Where this page of results begins; nil for the beginning.
  package var after: ItemCursor?

  /// How a search treats items whose secret needs a person to be asked.
  package enum Interaction: String, Sendable, Hashable {
    /// They are found like all others.
    case allow
    /// The search throws `interactionNotAllowed`.
    case fail
    /// They are skipped, and do not count for ``ItemSearch/limit``.
    case skip
  }

  /// A search for living items that meet the given conditions; by default for those that are not synchronizable.
  public init(
    _ itemClass: ItemClass? = nil, _ attributes: [AttributeName: AttributeValue] = [:], groups: Groups? = nil,
    ids: [ItemID]? = nil, synchronizable: Synchronizable = .no, ignoresCase: Bool = false, limit: Int? = nil,
    pattern: String? = nil, states: Set<Item.State> = [.living]
  ) {
    self.itemClass = itemClass
    self.groups = groups
    self.attributes = attributes
    self.ids = ids
    self.synchronizable = synchronizable
    self.ignoresCase = ignoresCase
    self.limit = limit
    self.pattern = pattern
    self.states = states
  }
}

/// A change of items. A property that is nil stays as it is.
public struct ItemChange: Sendable, Hashable {
  /// Attributes to set; nil as a value removes one.
  public var attributes: [AttributeName: AttributeValue?]
  /// The new access control. The change itself asks for what the old one requires.
  public var access: AccessControl?
  /// The new accessibility.
  public var accessibility: Accessibility?

  /// A change of the given properties.
  public init(
    attributes: [AttributeName: AttributeValue?] = [:], access: AccessControl? = nil,
    accessibility: Accessibility? = nil
  ) {
    self.attributes = attributes
    self.access = access
    self.accessibility = accessibility
  }
}

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

/// The values of ``AttributeName/keyType``: Apple's where Apple has one.
extension KeyFamily {
  package var keyType: String {
    switch self {
    case .ec: "73"
    case .rsa: "42"
    case .ed25519: "whorl.ed25519"
    case .x25519: "whorl.x25519"
    }
  }

  /// Nil for an unknown type.
  package init?(keyType: String) {
    guard let family = Self.allCases.first(where: { $0.keyType == keyType }) else { return nil }
    self = family
  }
}

/// A position in the items that a search finds.
package struct ItemCursor: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
}
