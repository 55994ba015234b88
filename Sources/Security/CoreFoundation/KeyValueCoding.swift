public import Foundation

// Queries are also put together the Objective-C way, with calls that `Foundation` has on Apple's systems alone.

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

extension NSDictionary {
  /// A dictionary whose keys are said to be copied.
  @_disfavoredOverload
  public convenience init(objects: [Any], forKeys keys: [any NSCopying]) {
    self.init(objects: objects, forKeys: keys.compactMap { $0 as? NSObject })
  }
}
