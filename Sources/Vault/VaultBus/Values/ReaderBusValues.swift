internal import Fingerprint
internal import ReaderBus
internal import SDBus
internal import SecretModel

extension Finger: BusCodable {}
extension ReaderAdapter: BusCodable {}
extension ReaderDescription.Nature: BusCodable {}
extension RetryReason: BusCodable {}

/// A reader as the reader process describes it.
extension ReaderDescription: BusCodable {
  static var busSignature: String { "a{sv}" }
  init(bus value: BusValue) throws(VaultError) {
    guard let reader = ReaderDescription(value) else { throw .unreadable(Self.self) }
    self = reader
  }
}

/// The error's name in the reader interface, and its text.
extension ReaderError: BusCodable {
  static var busSignature: String { "(say)" }
  var busValue: BusValue { .structure([.string(busName), busText.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2, let name = parts[0].asString else {
      throw .unreadable(Self.self)
    }
    self.init(busName: name, text: try String(bus: parts[1]))
  }
}

extension ReaderIdentity: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "driver": driver.busValue, "vendor": vendor?.busValue, "product": product?.busValue,
      "serial": serial?.busValue, "fixed-port": fixedPort?.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      driver: try record.take("driver"), vendor: try record.takeIfPresent("vendor"),
      product: try record.takeIfPresent("product"), serial: try record.takeIfPresent("serial"),
      fixedPort: try record.takeIfPresent("fixed-port"))
  }
}

extension ReaderList: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record(["readers": readers.busValue, "chosen": chosen?.busValue, "problem": problem?.busValue])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      readers: try record.take("readers"), chosen: try record.takeIfPresent("chosen"),
      problem: try record.takeIfPresent("problem"))
  }
}

extension Biometry: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "has-reader": hasReader.busValue, "problem": problem?.busValue, "state": state.map { .bytes($0) },
      "passcode-set": passcodeSet.busValue, "out-of-reach": isOutOfReach ? isOutOfReach.busValue : nil,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      hasReader: try record.take("has-reader"), problem: try record.takeIfPresent("problem"),
      state: try record.takeIfPresent("state", as: Octets.self)?.bytes,
      passcodeSet: try record.take("passcode-set"),
      isOutOfReach: try record.takeIfPresent("out-of-reach") ?? false)
  }
}
