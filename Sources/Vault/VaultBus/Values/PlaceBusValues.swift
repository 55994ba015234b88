internal import Fingerprint
internal import SDBus
internal import SecretModel

/// The text of `--reader`, as bytes, since it may contain a path.
extension ReaderSelection: BusCodable {
  static var busSignature: String { "ay" }
  var busValue: BusValue { description.busValue }
  init(bus value: BusValue) throws(VaultError) {
    guard let selection = ReaderSelection(try String(bus: value)) else { throw .unreadable(Self.self) }
    self = selection
  }
}

/// The address of the bus and the folder of templates.
extension FprintdPlace: BusCodable {
  static var busSignature: String { "(ayay)" }
  var busValue: BusValue { .structure([bus.busValue, templates.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
    self.init(bus: try String(bus: parts[0]), templates: try String(bus: parts[1]))
  }
}

/// An empty record means the caller's own store in the service.
extension StorePlace: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    switch self {
    case .own: .record([:])
    case .folder(let folder):
      .record([
        "directory": folder.directory.busValue, "reader": folder.reader.busValue,
        "reader-program": folder.readerProgram?.busValue, "fprintd": folder.fprintd?.busValue,
      ])
    }
  }

  init(bus value: BusValue) throws(VaultError) {
    guard value.asDictionary?.isEmpty == false else {
      try BusRecord(value, of: Self.self).end()
      self = .own
      return
    }
    var record = try BusRecord(value, of: Self.self)
    self.init(
      directory: try record.take("directory"), reader: try record.take("reader"),
      readerProgram: try record.takeIfPresent("reader-program"), fprintd: try record.takeIfPresent("fprintd"))
    try record.end()
  }
}
