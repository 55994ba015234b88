// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import SecretModel

/// The reference of a password: what `kSecReturnRef` gives and `kSecValueRef` takes. Equal to others of the same item.
public final class SecKeychainItem: NSObject, Sendable {
  let id: ItemID

  init(_ id: ItemID) { self.id = id }

  /// Whether both name the same item.
  public override func isEqual(_ object: Any?) -> Bool { (object as? SecKeychainItem)?.id == id }

  /// Equal for equal ones.
  public override var hash: Int { id.hashValue }
}

/// The identifier of references of passwords.
@discardableResult
public func SecKeychainItemGetTypeID() -> CFTypeID { 301 }
