public import Foundation

// Some programs build queries with Objective-C style calls, which `Foundation` only has on Apple's systems.

extension NSMutableDictionary {
  /// Sets the value of a string key. Nil removes the pair.
  public func setValue(_ value: Any?, forKey key: String) {
    if let value { setObject(value, forKey: key as NSString) } else { removeObject(forKey: key as NSString) }
  }

  /// Sets the value of a key of type `any NSCopying`, such as `kSecClass as NSCopying`.
  @_disfavoredOverload
  public func setObject(_ object: Any, forKey key: any NSCopying) {
    guard let key = key as? NSObject else { return }
    setObject(object, forKey: AnyHashable(key))
  }
}

extension NSDictionary {
  /// Makes a dictionary from keys of type `any NSCopying`.
  @_disfavoredOverload
  public convenience init(objects: [Any], forKeys keys: [any NSCopying]) {
    self.init(objects: objects, forKeys: keys.compactMap { $0 as? NSObject })
  }
}
