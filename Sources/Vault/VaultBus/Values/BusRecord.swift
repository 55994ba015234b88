internal import SDBus
internal import SecretModel

/// The entries of an `a{sv}`, taken out one by one.
///
/// In answers and events, unknown keys are ignored: a newer vault may add some. In requests ``end()`` refuses them: a
/// vault that ignored a newer client's condition could release, change or delete too much.
struct BusRecord {
  private var entries: [String: BusValue]
  private let type: Any.Type

  /// - Parameter type: the type of the record, for error messages.
  init(_ value: BusValue, of type: Any.Type) throws(VaultError) {
    guard let entries = value.asDictionary else { throw .unreadable(type) }
    self.entries = entries
    self.type = type
  }

  mutating func take<Value: BusCodable>(_ key: String, as: Value.Type = Value.self) throws(VaultError) -> Value {
    guard let value = try takeIfPresent(key, as: Value.self) else { throw .unreadable("\(type) without \(key)") }
    return value
  }

  mutating func takeIfPresent<Value: BusCodable>(
    _ key: String, as: Value.Type = Value.self
  ) throws(VaultError) -> Value? {
    guard let value = entries.removeValue(forKey: key) else { return nil }
    return try Value(bus: value)
  }

  /// Refuses entries that have not been taken.
  func end() throws(VaultError) {
    guard let key = entries.keys.min() else { return }
    throw .versionMismatch("the vault does not know \(key) of \(type): it is older than this program")
  }
}

extension BusValue {
  /// An `a{sv}` without the entries that are nil.
  static func record(_ entries: [String: BusValue?]) -> BusValue { .dictionary(entries.compactMapValues { $0 }) }
}
