// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import SecretModel

/// The reference of a password, for `kSecReturnRef` and `kSecValueRef`. References of the same item are equal.
public final class SecKeychainItem: NSObject, Sendable {
  let id: ItemID

  init(_ id: ItemID) { self.id = id }

  /// Whether both name the same item.
  public override func isEqual(_ object: Any?) -> Bool { (object as? SecKeychainItem)?.id == id }

  /// The same for equal references.
  public override var hash: Int { id.hashValue }
}

extension SecKeychainItem: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecKeychainItemGetTypeID() }
}

/// The identifier of references of passwords.
@discardableResult
public func SecKeychainItemGetTypeID() -> CFTypeID { 301 }
