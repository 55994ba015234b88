internal import SDBus
internal import SecretModel

extension Surroundings: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record(["changes": changes.busValue, "locks": locks.busValue, "refusal": refusal?.busValue])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    try self.init(from: &record)
  }

  /// What the client knows; nil for an empty record.
  static func known(bus value: BusValue) throws(VaultError) -> Surroundings? {
    guard value.asDictionary?.isEmpty == false else { return nil }
    var record = try BusRecord(value, of: Self.self)
    let known = try Surroundings(from: &record)
    try record.end()
    return known
  }

  private init(from record: inout BusRecord) throws(VaultError) {
    self.init(
      changes: try record.take("changes"), locks: try record.take("locks"),
      refusal: try record.takeIfPresent("refusal"))
  }
}
