internal import Fingerprint
internal import SDBus
internal import SecretModel

extension LosingChange: BusCodable {}
extension VaultStatus.Tier: BusCodable {}
extension FirstUnlock: BusCodable {}
extension DetectedRestore.Acceptance: BusCodable {}

extension EnrolledFinger: BusCodable {
  static var busSignature: String { "(sbx)" }
  var busValue: BusValue { .structure([finger.busValue, onChip.busValue, enrolled.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 3 else { throw .unreadable(Self.self) }
    self.init(
      finger: try Finger(bus: parts[0]), onChip: try Bool(bus: parts[1]), enrolled: try Int64(bus: parts[2]))
  }
}

extension SetStatus: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "reader": reader.busValue, "nature": nature.busValue, "fingers": fingers.busValue, "digest": .bytes(digest),
      "bound-items": boundItems.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      reader: try record.take("reader"), nature: try record.take("nature"), fingers: try record.take("fingers"),
      digest: try record.take("digest", as: Octets.self).bytes, boundItems: try record.take("bound-items"))
  }
}

extension SetChange: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record(["finger": finger?.busValue, "fingers": fingers.busValue, "lost": lost.busValue])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      finger: try record.takeIfPresent("finger"), fingers: try record.take("fingers"), lost: try record.take("lost"))
  }
}

extension VaultStatus: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "directory": directory.busValue, "tier": tier.busValue, "passcode-set": passcodeSet.busValue,
      "failures": failures.busValue, "locked-out": lockedOut.busValue, "passcode-delay": passcodeDelay.busValue,
      "restore": restore?.busValue, "items": items.busValue, "sets": sets.busValue,
      "damaged-sets": damagedSets.busValue, "adapter": adapter?.busValue,
      "first-unlock": firstUnlock.busValue, "open-classes": openClasses.busValue,
      "passcode-deadline": passcodeDeadline?.busValue, "registers": .bytes(registers),
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      directory: try record.take("directory"), tier: try record.take("tier"),
      passcodeSet: try record.take("passcode-set"), failures: try record.take("failures"),
      lockedOut: try record.take("locked-out"), passcodeDelay: try record.take("passcode-delay"),
      restore: try record.takeIfPresent("restore"), items: try record.take("items"), sets: try record.take("sets"),
      damagedSets: try record.take("damaged-sets"), adapter: try record.takeIfPresent("adapter"),
      firstUnlock: try record.take("first-unlock"), openClasses: try record.take("open-classes"),
      passcodeDeadline: try record.takeIfPresent("passcode-deadline"),
      registers: try record.take("registers", as: Octets.self).bytes)
  }
}

extension DetectedRestore: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "id": id.busValue, "acceptance": acceptance.busValue, "sets": sets.busValue,
      "fingers-are-forgotten": fingersAreForgotten.busValue, "items": items.busValue, "lost": lost.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      id: try record.take("id"), acceptance: try record.take("acceptance"), sets: try record.take("sets"),
      fingersAreForgotten: try record.take("fingers-are-forgotten"), items: try record.take("items"),
      lost: try record.take("lost"))
  }
}
