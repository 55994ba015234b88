/// The kinds of items, under the raw names of `kSecClass`.
public enum ItemClass: String, Sendable, CaseIterable {
  /// A secret of a service, perhaps for an account at it.
  case genericPassword = "genp"
  /// A password for a server on a network.
  case internetPassword = "inet"
  /// A cryptographic key.
  case key = "keys"
  /// An X.509 certificate. Its bytes are stored as an item's secret is, though nothing about it is secret.
  case certificate = "cert"
}

/// What an attribute of an item is called: the raw names of Apple's `kSecAttr…` constants.
public struct AttributeName: RawRepresentable, Sendable, Hashable, Comparable {
  /// The raw name, such as `acct`.
  public let rawValue: String

  /// Any name is one: clients may keep attributes of their own.
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
  /// `kSecAttrIssuer`: who signed a certificate, as a normalized X.501 name in DER without the outer header.
  public static let issuer = Self(rawValue: "issr")
  /// `kSecAttrSubject`: whom a certificate is for, in the form of ``issuer``.
  public static let subject = Self(rawValue: "subj")
  /// `kSecAttrSerialNumber`: the content of the DER integer.
  public static let serialNumber = Self(rawValue: "slnr")
  /// `kSecAttrPublicKeyHash`: SHA-1 of a certificate's public key; equals ``applicationLabel`` of the key.
  public static let publicKeyHash = Self(rawValue: "pkhh")
  /// A private key's public half, in the form of `SecKeyCopyExternalRepresentation`; Whorl's own.
  public static let publicKey = Self(rawValue: "whorl.public")
}

/// The value of an attribute. Two values are equal only where their kinds are.
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

/// Names an item for as long as it lives, whatever else about it changes: what Apple calls its persistent reference.
public struct ItemID: Sendable, Hashable {
  /// Sixteen bytes.
  public let bytes: [UInt8]

  /// From what ``bytes`` gave earlier; other bytes name no item.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// What can be known of an item without a finger.
public struct Item: Sendable, Hashable, Identifiable {
  /// Whether an item's secret can still be read.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// It can, by whoever satisfies its access control.
    case living
    /// The enrolment set or the passcode that the item was bound to is gone: nothing brings the secret back.
    case dead
    /// Its row was edited or damaged. Only its id is known, and it can only be removed.
    case damaged
  }

  /// Stays the same when the item is updated.
  public let id: ItemID
  /// Whether its secret can still be read.
  public let state: State
  /// What kind of item it is; never changes. Nil where the item is damaged, and only there.
  public let itemClass: ItemClass?
  /// Everything but the secret, under Apple's raw names.
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
  /// Everything but the secret. Those that name an item of the class are its primary attributes; an absent one is empty.
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

/// Which items are meant: all conditions hold at once. Dead and damaged items are among them where ``states`` says so.
public struct ItemSearch: Sendable, Hashable {
  /// Which items are meant by what they say of being synchronized.
  public enum Synchronizable: String, Sendable, Hashable {
    /// Only items that are not; what a search without a word about it means.
    case no
    /// Only items that are.
    case yes
    /// Both.
    case any
  }

  /// Which items are meant by their access group.
  public enum Groups: Sendable, Hashable {
    /// Those of every group.
    case all
    /// Those of these groups; what the first group has is found before what the second has.
    case named([String])
  }

  /// Nil for every class.
  public var itemClass: ItemClass?
  /// Nil where the search does not say. Programs that use the library then read their own group and after it the command
  /// line's, and delete from their own alone; the command line itself means every group.
  public var groups: Groups?
  /// Attributes and the values they must have.
  public var attributes: [AttributeName: AttributeValue]
  /// Only these items; nil for all.
  public var ids: [ItemID]?
  /// Nothing is synchronized by Whorl: the attribute is kept and matched.
  public var synchronizable: Synchronizable
  /// Texts are compared without regard to case.
  public var ignoresCase: Bool
  /// At most so many, the oldest first; nil for all.
  public var limit: Int?
  /// A pattern for ``Item/name``, in which `*` stands for any text and `?` for one character; nil for every name.
  public var pattern: String?
  /// The states an item may be in. A damaged item, of which no attribute can be read, is found by its id, by a search
  /// that names all of its primary attributes, and by one that names nothing at all.
  public var states: Set<Item.State>
  /// Only items made at this time, to the millisecond; seconds since 1970. Nil for any time.
  public var created: Double?
  /// Only items last changed at this time, to the millisecond; seconds since 1970. Nil for any time.
  public var modified: Double?
  /// What is done about an item that would ask a person before its secret is given out.
  package var interaction = Interaction.allow
  /// Only what comes after this place in what the search finds; nil from the beginning.
  package var after: ItemCursor?

  /// What a search does about an item that would ask a person before its secret is given out.
  package enum Interaction: String, Sendable, Hashable {
    /// It is found as every other.
    case allow
    /// The search throws `interactionNotAllowed`.
    case fail
    /// It is passed over, and does not count for ``ItemSearch/limit``.
    case skip
  }

  /// All living items that are not synchronizable, but for the conditions given.
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

/// What changes about items; what is nil stays.
public struct ItemChange: Sendable, Hashable {
  /// Attributes to set; nil as a value removes one.
  public var attributes: [AttributeName: AttributeValue?]
  /// What has to happen from now on before the secret is given out; the change needs what the old one asks for.
  public var access: AccessControl?
  /// When it is usable at all, from now on.
  public var accessibility: Accessibility?

  /// No change, but for what is given.
  public init(
    attributes: [AttributeName: AttributeValue?] = [:], access: AccessControl? = nil,
    accessibility: Accessibility? = nil
  ) {
    self.attributes = attributes
    self.access = access
    self.accessibility = accessibility
  }
}
