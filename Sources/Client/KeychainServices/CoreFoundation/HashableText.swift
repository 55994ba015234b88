public import Foundation

// On Apple's systems a `String` and an `NSString` with the same text are the same dictionary key, so a result of type
// `[AnyHashable: Any]` can be read with `kSecAttrAccount` and with `kSecAttrAccount as String`. Keychain wrappers rely
// on that. Foundation on Linux lacks this conformance.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
  /// The string as a key that is equal to the same text as `String`.
  public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
