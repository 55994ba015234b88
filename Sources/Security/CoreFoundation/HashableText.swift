public import Foundation

// On Apple's systems text is one key, whether it is `String` or `NSString`: a result taken as `[AnyHashable: Any]` is
// looked up with `kSecAttrAccount` as well as with `kSecAttrAccount as String`. Foundation on Linux lacks the conformance
// that makes it so, and wrappers rely on it.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
  /// The text as a key, equal to the same text as `String`.
  public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
