/// What must be proven before an item's key is unwrapped, with the flags of `SecAccessControlCreateFlags`.
public struct AccessControl: Sendable, Hashable {
  /// The bits of `SecAccessControlCreateFlags`, with Apple's values.
  public struct Flags: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt64

    /// Flags with any bits; ``AccessControl/init(_:)`` refuses combinations without a meaning.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A finger, or the passcode in its place.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// Any finger enrolled at the time of reading.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// A finger of the set that was enrolled when the item was written; dead when the set changes.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The passcode; its key is part of the item's wrapping key.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// A watch or another companion. Linux has none, so this is accepted only with another constraint and `or`.
    public static let companion = Self(rawValue: 1 << 5)
    /// One of the constraints is enough.
    public static let or = Self(rawValue: 1 << 14)
    /// All constraints are required. This is also the meaning of several constraints without `or`.
    public static let and = Self(rawValue: 1 << 15)
    /// The key is used inside the vault and never leaves it.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// A password of the item's own is part of its wrapping key, beside the constraints.
    public static let applicationPassword = Self(rawValue: 1 << 31)

    static let constraints: Self = [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion]
    static let known: Self = constraints.union([.or, .and, .privateKeyUsage, .applicationPassword])
  }

  /// The constraints and how they combine.
  public let flags: Flags

  /// No constraint: the store being readable is enough.
  public static let none = AccessControl(unchecked: [])

  /// Refuses what has no meaning: `or` with `and`, both kinds of biometry, `userPresence` beside another constraint,
  /// a companion without another constraint under `or`, and unknown bits.
  public init(_ flags: Flags) throws(VaultError) {
    func refuse(_ why: String) throws(VaultError) { throw .invalidAccessControl(why) }
    if !flags.subtracting(.known).isEmpty { try refuse("it has unknown flags") }
    if flags.isSuperset(of: [.or, .and]) { try refuse("'or' and 'and' exclude each other") }
    if flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) { try refuse("one kind of biometry at a time") }
    let constraints = flags.intersection(.constraints)
    if flags.contains(.userPresence), constraints != .userPresence || !flags.isDisjoint(with: [.or, .and]) {
      try refuse("userPresence stands alone")
    }
    if flags.contains(.companion), constraints == .companion || !flags.contains(.or) {
      try refuse("a companion device is allowed only as one of several, with 'or'")
    }
    self.init(unchecked: flags)
  }

  package init(unchecked flags: Flags) { self.flags = flags }
}

extension AccessControl {
  /// The single constraints, under the names of `--access`.
  public enum Constraint: String, Sendable, CaseIterable {
    /// A finger of the set that was enrolled when the item was written; dead when the set changes.
    case currentSet = "current-set"
    /// Any finger enrolled at the time of reading.
    case anyFinger = "any-finger"
    /// A finger, or the passcode in its place.
    case presence
    /// The passcode; its key is part of the item's wrapping key.
    case passcode
    /// Nothing: the store being readable is enough.
    case none

    fileprivate var flags: Flags {
      switch self {
      case .currentSet: .biometryCurrentSet
      case .anyFinger: .biometryAny
      case .presence: .userPresence
      case .passcode: .devicePasscode
      case .none: []
      }
    }
  }

  /// One constraint, and optionally a password of the item's own.
  public init(_ constraint: Constraint, applicationPassword: Bool = false) {
    self.init(unchecked: applicationPassword ? constraint.flags.union(.applicationPassword) : constraint.flags)
  }

  /// The only constraint; nil if several are combined.
  public var constraint: Constraint? {
    Constraint.allCases.first { $0.flags == flags.subtracting([.applicationPassword, .privateKeyUsage]) }
  }

  /// A password of the item's own is part of its wrapping key, beside the constraints.
  public var applicationPassword: Bool { flags.contains(.applicationPassword) }
}

extension AccessControl: CustomStringConvertible {
  /// The constraint's name in `--access`; several joined by `and` or `or`. Without the application password.
  public var description: String {
    if let constraint { return constraint.rawValue }
    let gates: [(Flags, Constraint)] = [
      (.biometryCurrentSet, .currentSet), (.biometryAny, .anyFinger), (.devicePasscode, .passcode),
    ]
    let names = gates.filter { flags.contains($0.0) }.map { $0.1.rawValue }
    return names.joined(separator: flags.contains(.or) ? " or " : " and ")
  }
}
