/// What must be shown before an item is read. The bits are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  /// The bits.
  public let rawValue: CFOptionFlags

  /// Flags from their bits; ``SecAccessControlCreateWithFlags(_:_:_:_:)`` refuses unknown ones.
  public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

  /// Bit 0: a finger, or the passcode in its place.
  public static let userPresence = Self(rawValue: 1 << 0)
  /// Bit 1: any finger enrolled at the time of reading.
  public static let biometryAny = Self(rawValue: 1 << 1)
  /// Bit 3: a finger of the set enrolled when the item was written; the item dies with the set.
  public static let biometryCurrentSet = Self(rawValue: 1 << 3)
  /// Bit 4: the passcode.
  public static let devicePasscode = Self(rawValue: 1 << 4)
  /// Bit 5: a watch. Linux has none, so it is accepted only with another constraint and `or`.
  public static let watch = Self(rawValue: 1 << 5)
  /// Bit 5: a companion; the newer name of `watch`.
  public static let companion = Self(rawValue: 1 << 5)
  /// Bit 14: one of the constraints is enough.
  public static let or = Self(rawValue: 1 << 14)
  /// Bit 15: all constraints are required. This is also the meaning of several constraints without `or`.
  public static let and = Self(rawValue: 1 << 15)
  /// Bit 30: a private key is used inside the vault and never leaves it.
  public static let privateKeyUsage = Self(rawValue: 1 << 30)
  /// Bit 31: a password of the item's own, in addition to the constraints.
  public static let applicationPassword = Self(rawValue: 1 << 31)

  /// Bit 1: the older name of `biometryAny`.
  public static let touchIDAny = Self.biometryAny
  /// Bit 3: the older name of `biometryCurrentSet`.
  public static let touchIDCurrentSet = Self.biometryCurrentSet
}
