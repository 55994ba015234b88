public import Foundation

// Queries are also put together the Objective-C way, with calls that `Foundation` has on Apple's systems alone.

extension NSDictionary {
  /// The value of a key that is text.
  public func value(forKey key: String) -> Any? { object(forKey: key as NSString) }
}

extension NSMutableDictionary {
  /// Sets the value of a key that is text; nil takes the pair away.
  public func setValue(_ value: Any?, forKey key: String) {
    if let value { setObject(value, forKey: key as NSString) } else { removeObject(forKey: key as NSString) }
  }

  /// Sets the value of a key that is said to be copied, as `kSecClass as NSCopying` is.
  @_disfavoredOverload
  public func setObject(_ object: Any, forKey key: any NSCopying) {
    guard let key = key as? NSObject else { return }
    setObject(object, forKey: AnyHashable(key))
  }
}
