/// A value with fields, which its initializer names: once, for both directions.
///
///     extension AuditSearch: StrictBusRecord {
///       package init(_ f: inout Fields<Self>) throws {
///         self.init()
///         after = try f("after", \.after)
///         since = try f("since", \.since)
///       }
///     }
///
/// A value is read by this initializer from what has arrived. It is written by it, too: `f` then notes the field of the
/// value that is written, and returns it. So nothing that is written can lack a field that is read.
package protocol BusFields: BusCodable {
  init(_ f: inout Fields<Self>) throws
  /// Refuses values that the types of the fields allow, but not the rules of the whole. Called for what was read.
  func check() throws
}

extension BusFields {
  package func check() throws {}
}

/// An `a{sv}`: the order of the fields does not matter, and one that is nil is left out.
///
/// Unknown keys are ignored, as a client does in answers and events: a newer vault may add some. In a request they have to
/// be refused (``StrictBusRecord``).
package protocol BusRecord: BusFields {}

/// A record in which unknown keys are refused, as a vault does in requests: one that ignored a newer client's condition
/// could release, change or delete too much (decision 0035).
package protocol StrictBusRecord: BusRecord {}

/// A D-Bus structure: the fields in the order in which the initializer names them.
package protocol BusStructure: BusFields {}

/// Several values of a message, one after another, in the order in which the initializer names them.
package protocol BusSequence: BusParts {
  init(_ f: inout Fields<Self>) throws
}

/// A record for a value of one of several kinds: a word under ``kindKey`` tells which, and the other keys are the fields
/// of this kind.
package protocol BusChoice: BusCodable {
  static var kindKey: String { get }
  /// One value of each kind. What is read takes the place of their fields.
  static var samples: [Self] { get }
  /// Names the word of each kind, and passes each of its fields through `f`.
  func coded(_ f: inout KindFields) throws -> Self
}

/// A choice in which unknown keys are refused. (Unknown words are, in any choice.)
package protocol StrictBusChoice: BusChoice {}

// MARK: Coding

/// The fields of one value on their way: those of a record by their keys, those of a structure by their places.
private struct FieldStore {
  var entries: [String: BusValue] = [:]
  var members: [BusValue] = []
  /// The place of the next member that is read.
  var next = 0
  let isStructure: Bool
  /// For error messages.
  let type: Any.Type

  mutating func put(_ key: String, _ value: BusValue?) {
    guard isStructure else { return entries[key] = value }
    if let value {
      members.append(value)
    } else {
      assertionFailure("\(type).\(key): a structure has all of its members")
    }
  }

  mutating func take(_ key: String) -> BusValue? {
    guard isStructure else { return entries.removeValue(forKey: key) }
    defer { next += 1 }
    return next < members.count ? members[next] : nil
  }

  mutating func require(_ key: String) throws -> BusValue {
    guard let value = take(key) else { throw BusValueError.unreadable(what: "\(type) without \(key)") }
    return value
  }

  /// Refuses entries that have not been taken.
  func end() throws {
    if isStructure, next != members.count { throw BusValueError.unreadable(type) }
    if let key = entries.keys.min() { throw BusValueError.unknownField(key, of: "\(type)") }
  }
}

/// Reads the fields of a value, or writes those of one that is there: see ``BusFields``.
package struct Fields<Whole> {
  fileprivate var store: FieldStore
  /// The value that is written; nil where one is read.
  fileprivate let whole: Whole?

  /// A field that every value has.
  package mutating func callAsFunction<Value: BusCodable>(_ key: String, _ field: (Whole) -> Value) throws -> Value {
    guard let whole else { return try Value(bus: try store.require(key)) }
    let value = field(whole)
    store.put(key, value.busValue)
    return value
  }

  /// A field that may be missing.
  package mutating func callAsFunction<Value: BusCodable>(_ key: String, _ field: (Whole) -> Value?) throws -> Value? {
    guard let whole else { return try store.take(key).map { try Value(bus: $0) } }
    let value = field(whole)
    store.put(key, value?.busValue)
    return value
  }

  /// A field that is left out where it has its usual value: for one that was added later.
  package mutating func callAsFunction<Value: BusCodable & Equatable>(
    _ key: String, _ field: (Whole) -> Value, usually usual: Value
  ) throws -> Value {
    try self(key) { field($0) == usual ? nil : field($0) } ?? usual
  }

  /// A number in a range (`u`).
  package mutating func small(_ key: String, _ field: (Whole) -> Int, in range: ClosedRange<Int>) throws -> Int {
    guard let whole else { return try Int(bus: try store.require(key), in: range) }
    store.put(key, .uint32(UInt32(clamping: field(whole))))
    return field(whole)
  }

  package mutating func small(_ key: String, _ field: (Whole) -> Int?, in range: ClosedRange<Int>) throws -> Int? {
    guard let whole else { return try store.take(key).map { try Int(bus: $0, in: range) } }
    store.put(key, field(whole).map { .uint32(UInt32(clamping: $0)) })
    return field(whole)
  }

  /// A word of the interface (`s`).
  package mutating func word(_ key: String, _ field: (Whole) -> String) throws -> String {
    try self(key) { Word(field($0)) }.word
  }

  package mutating func word(_ key: String, _ field: (Whole) -> String?) throws -> String? {
    try self(key) { field($0).map(Word.init) }?.word
  }

  /// Words of the interface (`as`).
  package mutating func words(_ key: String, _ field: (Whole) -> [String]) throws -> [String] {
    try self(key) { field($0).map(Word.init) }.map(\.word)
  }

  /// Why what was read is no value: it has an unknown field, or none that tells what it is. To be called after all fields.
  package func mismatch() -> BusValueError {
    if let key = store.entries.keys.min() { return .unknownField(key, of: "\(store.type)") }
    return .unreadable(store.type)
  }

  /// A value whose entries stand among those of this record.
  package mutating func among<Value: BusRecord>(_ field: (Whole) -> Value) throws -> Value {
    var inner = Fields<Value>(store: store, whole: whole.map(field))
    defer { store = inner.store }
    return try Value(&inner)
  }

  package mutating func among<Value: BusChoice>(_ field: (Whole) -> Value) throws -> Value {
    var inner = KindFields(store: store, mode: whole == nil ? .reading : .writing)
    defer { store = inner.store }
    return try inner.choice(whole.map(field))
  }
}

extension Fields {
  /// The fields of a value that is there.
  fileprivate static func written(
    _ whole: Whole, _ store: FieldStore, _ name: (inout Fields) throws -> Whole
  ) -> FieldStore {
    var fields = Fields(store: store, whole: whole)
    do { _ = try name(&fields) } catch { assertionFailure("\(Whole.self) refuses itself: \(error)") }
    return fields.store
  }

  /// The value that has arrived.
  fileprivate static func read(
    _ store: FieldStore, refusingOthers: Bool, _ name: (inout Fields) throws -> Whole
  ) throws -> Whole {
    var fields = Fields(store: store, whole: nil)
    let whole = try name(&fields)
    if refusingOthers { try fields.store.end() }
    return whole
  }
}

extension BusRecord {
  package static var busSignature: String { "a{sv}" }
  package var busValue: BusValue {
    .dictionary(Fields.written(self, FieldStore(isStructure: false, type: Self.self)) { try Self(&$0) }.entries)
  }
  package init(bus value: BusValue) throws { try self.init(bus: value, refusingOthers: false) }

  fileprivate init(bus value: BusValue, refusingOthers: Bool) throws {
    guard let entries = value.asDictionary else { throw BusValueError.unreadable(Self.self) }
    let store = FieldStore(entries: entries, isStructure: false, type: Self.self)
    self = try Fields.read(store, refusingOthers: refusingOthers) { try Self(&$0) }
    try check()
  }
}

extension StrictBusRecord {
  package init(bus value: BusValue) throws { try self.init(bus: value, refusingOthers: true) }
}

extension BusStructure {
  package var busValue: BusValue {
    .structure(Fields.written(self, FieldStore(isStructure: true, type: Self.self)) { try Self(&$0) }.members)
  }
  package init(bus value: BusValue) throws {
    guard let members = value.asStructure else { throw BusValueError.unreadable(Self.self) }
    let store = FieldStore(members: members, isStructure: true, type: Self.self)
    self = try Fields.read(store, refusingOthers: true) { try Self(&$0) }
    try check()
  }
}

extension BusSequence {
  package func busValues() -> [BusValue] {
    Fields.written(self, FieldStore(isStructure: true, type: Self.self)) { try Self(&$0) }.members
  }
  package init(bus values: [BusValue]) throws {
    let store = FieldStore(members: values, isStructure: true, type: Self.self)
    self = try Fields.read(store, refusingOthers: true) { try Self(&$0) }
  }
}

/// Reads the fields of a value of one of several kinds, or writes those of one that is there: see ``BusChoice``.
package struct KindFields {
  fileprivate enum Mode {
    /// Only the word of the kind is wanted.
    case naming
    case writing, reading
  }

  fileprivate var store: FieldStore
  fileprivate let mode: Mode
  fileprivate var key = ""
  fileprivate var word = ""

  /// The only field of a kind, or the first of several.
  package mutating func callAsFunction<Value: BusCodable>(
    _ word: String, _ key: String, _ value: Value
  ) throws -> Value {
    try self(key, kind(word, value))
  }

  package mutating func callAsFunction<Value: BusCodable>(
    _ word: String, _ key: String, _ value: Value?
  ) throws -> Value? {
    try self(key, kind(word, value))
  }

  /// A further field.
  package mutating func callAsFunction<Value: BusCodable>(_ key: String, _ value: Value) throws -> Value {
    if mode == .reading { return try Value(bus: try store.require(key)) }
    if mode == .writing { store.put(key, value.busValue) }
    return value
  }

  package mutating func callAsFunction<Value: BusCodable>(_ key: String, _ value: Value?) throws -> Value? {
    if mode == .reading { return try store.take(key).map { try Value(bus: $0) } }
    if mode == .writing { store.put(key, value?.busValue) }
    return value
  }

  /// A kind without fields, or whose fields follow.
  package mutating func kind<Value>(_ word: String, _ value: Value) -> Value {
    self.word = word
    if mode == .writing { store.put(key, .string(word)) }
    return value
  }

  /// A kind whose fields are those of one value.
  package mutating func among<Value: BusRecord>(_ word: String, _ value: Value) throws -> Value {
    let value = kind(word, value)
    guard mode != .naming else { return value }
    var inner = Fields<Value>(store: store, whole: mode == .writing ? value : nil)
    defer { store = inner.store }
    return try Value(&inner)
  }

  package mutating func among<Value: BusChoice>(_ word: String, _ value: Value) throws -> Value {
    let value = kind(word, value)
    guard mode != .naming else { return value }
    var inner = KindFields(store: store, mode: mode)
    defer { store = inner.store }
    return try inner.choice(mode == .writing ? value : nil)
  }

  /// - Parameter value: the one to write; nil where one is read.
  fileprivate mutating func choice<Value: BusChoice>(_ value: Value?) throws -> Value {
    key = Value.kindKey
    if let value { return try value.coded(&self) }
    guard let word = try store.require(key).asString else { throw BusValueError.unreadable(Value.self) }
    guard let sample = try Value.sample(word) else { throw BusValueError.unknownField(word, of: "\(Value.self)") }
    return try sample.coded(&self)
  }
}

extension BusChoice {
  fileprivate static func sample(_ word: String) throws -> Self? {
    try samples.first { sample in
      var fields = KindFields(store: FieldStore(isStructure: false, type: Self.self), mode: .naming)
      _ = try sample.coded(&fields)
      return fields.word == word
    }
  }

  package static var busSignature: String { "a{sv}" }

  package var busValue: BusValue {
    var fields = KindFields(store: FieldStore(isStructure: false, type: Self.self), mode: .writing)
    do { _ = try fields.choice(self) } catch { assertionFailure("\(Self.self) refuses itself: \(error)") }
    return .dictionary(fields.store.entries)
  }

  package init(bus value: BusValue) throws { try self.init(bus: value, refusingOthers: false) }

  fileprivate init(bus value: BusValue, refusingOthers: Bool) throws {
    guard let entries = value.asDictionary else { throw BusValueError.unreadable(Self.self) }
    let store = FieldStore(entries: entries, isStructure: false, type: Self.self)
    var fields = KindFields(store: store, mode: .reading)
    self = try fields.choice(nil)
    if refusingOthers { try fields.store.end() }
  }
}

extension StrictBusChoice {
  package init(bus value: BusValue) throws { try self.init(bus: value, refusingOthers: true) }
}
