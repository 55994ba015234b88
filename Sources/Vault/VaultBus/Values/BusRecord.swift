internal import SDBus
internal import SecretModel

/// The entries of an `a{sv}`, taken out one by one.
///
/// In answers and events unknown keys are ignored: a newer vault says more. In requests they are refused with
/// ``end()``: a vault that ignored a condition of a newer client would release, change or delete more than was meant.
struct BusRecord {
  private var entries: [String: BusValue]
  private let type: Any.Type

  /// - Parameter type: what the entries are those of, for the errors.
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

  /// Refuses what has not been taken.
  func end() throws(VaultError) {
    guard let key = entries.keys.min() else { return }
    throw .versionMismatch("the vault does not know \(key) of \(type): it is older than this program")
  }
}

extension BusValue {
  /// An `a{sv}` without the entries that are nil.
  static func record(_ entries: [String: BusValue?]) -> BusValue { .dictionary(entries.compactMapValues { $0 }) }
}
