internal import SDBus
internal import SecretModel

extension BackupContents.ID: BusBytes {
  var bytes: [UInt8] { digest }
  init(bytes: [UInt8]) { self.init(digest: bytes) }
}

extension BackupContents.Proof: BusCodable {}

extension BackupContents: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "id": id.busValue, "proof": proof.busValue, "items": items.busValue, "removed": removed.busValue,
      "returning": returning.busValue, "changed": changed.busValue, "dead": dead.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      id: try record.take("id"), proof: try record.take("proof"), items: try record.take("items"),
      removed: try record.take("removed"), returning: try record.take("returning"),
      changed: try record.take("changed"), dead: try record.take("dead"))
  }
}
