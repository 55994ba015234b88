package import Fingerprint
package import SDBus

/// A reader as `a{sv}`. Properties that a reader does not have are left out.
extension ReaderDescription {
  package var busValue: BusValue {
    var entries: [String: BusValue] = [
      "id": .string(id),
      "name": .string(name),
      "driver": .string(identity.driver),
      "scan-type": .string(scanType.rawValue),
      "enroll-stages": .uint32(UInt32(clamping: enrollStages)),
      "features": .array(of: "s", features.map(\.rawValue).sorted().map { .string($0) }),
      "temperature": .string(temperature.rawValue),
      "nature": .string(nature.rawValue),
    ]
    entries["vendor"] = identity.vendor.map { .uint16($0) }
    entries["product"] = identity.product.map { .uint16($0) }
    entries["serial"] = identity.serial.map { .string($0) }
    entries["fixed-port"] = identity.fixedPort.map { .string($0) }
    return .dictionary(entries)
  }

  /// The longest of its texts, in bytes of UTF-8. They are stored, and shown to users. A serial number of USB has up to
  /// 126 units of UTF-16 (USB 2.0, 9.6.7), which are up to 378 bytes.
  package static let longestText = 512

  /// Nil if something is missing, has the wrong type or is too long. Unknown features are ignored.
  package init?(_ value: BusValue) {
    guard let entries = value.asDictionary,
      let id = entries["id"]?.asString,
      let name = entries["name"]?.asString,
      let driver = entries["driver"]?.asString,
      let scanType = entries["scan-type"]?.asString.flatMap(ScanType.init(rawValue:)),
      let stages = entries["enroll-stages"]?.number(in: 0...Self.mostStages),
      let features = entries["features"]?.asArray,
      let temperature = entries["temperature"]?.asString.flatMap(Temperature.init(rawValue:)),
      let nature = entries["nature"]?.asString.flatMap(Nature.init(rawValue:))
    else { return nil }
    let (serial, fixedPort) = (entries["serial"]?.asString, entries["fixed-port"]?.asString)
    let texts = [id, name, driver, serial, fixedPort].compactMap(\.self)
    guard texts.allSatisfy({ $0.utf8.count <= Self.longestText }) else { return nil }
    self.init(
      id: id, name: name,
      identity: ReaderIdentity(
        driver: driver, vendor: entries["vendor"]?.asIdentifier(), product: entries["product"]?.asIdentifier(),
        serial: serial, fixedPort: fixedPort),
      scanType: scanType, enrollStages: stages,
      features: Set(features.compactMap { $0.asString.flatMap(Feature.init(rawValue:)) }),
      temperature: temperature, nature: nature)
  }
}
