// Which reader it is: how it describes itself, how it is recognised later, and how one is chosen.

/// A reader's description of itself, before it is opened.
public struct ReaderDescription: Sendable, Hashable, Codable {
  /// Whether the reader is physical. Prompts and `status` must say so if it is not.
  public enum Nature: String, Sendable, Codable {
    case physical, virtual, replayed
  }

  /// How a finger is presented (`FpScanType`).
  public enum ScanType: String, Sendable, Codable {
    case press, swipe
  }

  /// The driver's thermal model (`FpTemperature`).
  public enum Temperature: String, Sendable, Codable {
    case cold, warm, hot
  }

  /// A feature of a driver, with the nicknames of libfprint's `FpDeviceFeature`.
  public enum Feature: String, Sendable, Codable, CaseIterable {
    case capture, identify, verify, storage
    case storageList = "storage-list"
    case storageDelete = "storage-delete"
    case storageClear = "storage-clear"
    case duplicatesCheck = "duplicates-check"
    case alwaysOn = "always-on"
    case updatePrint = "update-print"
  }

  /// Identifies the reader within one reader process; not stable across processes.
  public var id: String
  /// The driver's name for the reader, for people.
  public var name: String
  /// Identifies the reader permanently, across processes.
  public var identity: ReaderIdentity
  /// How a finger is presented.
  public var scanType: ScanType
  /// The number of touches in an enrolment.
  public var enrollStages: Int
  /// The features of the driver.
  public var features: Set<Feature>
  /// The temperature in the driver's thermal model.
  public var temperature: Temperature
  /// Whether this is a physical reader.
  public var nature: Nature

  /// More touches in an enrolment no reader asks for.
  package static let mostStages = 1_000

  package init(
    id: String, name: String, identity: ReaderIdentity, scanType: ScanType, enrollStages: Int, features: Set<Feature>,
    temperature: Temperature, nature: Nature
  ) {
    self.id = id
    self.name = name
    self.identity = identity
    self.scanType = scanType
    self.enrollStages = enrollStages
    self.features = features
    self.temperature = temperature
    self.nature = nature
  }
}

extension ReaderDescription {
  /// Writes the features in the order of their names, so that the same reader is always the same text.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(id, forKey: .id)
    try values.encode(name, forKey: .name)
    try values.encode(identity, forKey: .identity)
    try values.encode(scanType, forKey: .scanType)
    try values.encode(enrollStages, forKey: .enrollStages)
    try values.encode(features.map(\.rawValue).sorted(), forKey: .features)
    try values.encode(temperature, forKey: .temperature)
    try values.encode(nature, forKey: .nature)
  }
}

/// Identifies a reader permanently, by its driver, USB ids and serial number.
///
/// The port is part of it only if sysfs reports the device as fixed (built in): a removable reader stays the same at
/// another port, but two built-in readers of one model without serial numbers differ only in their ports.
public struct ReaderIdentity: Sendable, Hashable, Codable {
  /// libfprint's driver id, such as `synaptics`.
  public var driver: String
  /// The USB vendor id; nil for a reader that is not a USB device.
  public var vendor: UInt16?
  /// The USB product id; nil for a reader that is not a USB device.
  public var product: UInt16?
  /// The USB serial number, where the device has one.
  public var serial: String?
  /// The USB port path, only for a device that sysfs reports as fixed.
  public var fixedPort: String?

  package init(
    driver: String, vendor: UInt16? = nil, product: UInt16? = nil, serial: String? = nil, fixedPort: String? = nil
  ) {
    self.driver = driver
    self.vendor = vendor
    self.product = product
    self.serial = serial
    self.fixedPort = fixedPort
  }
}

/// The software that drives a reader. The same sensor counts as two readers with different fingers, one for each
/// adapter.
///
/// The cases stand in the order in which `--reader auto` prefers them.
package enum ReaderAdapter: String, Sendable, Hashable, CaseIterable {
  /// fprintd, with the fingers that are enrolled there.
  case fprintd
  /// libfprint in the reader process.
  case libfprint

  /// Whether its fingers are those of the user for all programs: they are enrolled and removed elsewhere, too, and polkit
  /// decides who may enrol one.
  package var sharesFingers: Bool {
    switch self {
    case .fprintd: true
    case .libfprint: false
    }
  }

  /// Whether Whorl's reader process opens the device itself, so that it knows the driver, can record the traffic, and
  /// can have only one program use the reader at a time.
  package var opensDevice: Bool {
    switch self {
    case .fprintd: false
    case .libfprint: true
    }
  }
}

extension ReaderAdapter {
  /// The adapter of a reader with this ``ReaderDescription/id``. libfprint's ids begin with the name of a driver, and
  /// no driver is named as another adapter.
  package init(ofReader id: String) { self = Self.allCases.first { id.hasPrefix("\($0.rawValue):") } ?? .libfprint }

  /// The id of fprintd's reader with this name.
  package static func readerID(fprintdName name: String) -> String { "\(fprintd.rawValue):\(name)" }
}

extension ReaderIdentity {
  /// The identity of a reader of fprintd: its name alone, since fprintd reports neither driver nor USB ids.
  ///
  /// It differs from the identity of the same reader driven by libfprint, since their prints are different.
  package init(fprintdName name: String) {
    self.init(driver: "\(ReaderAdapter.fprintd.rawValue): \(name)")
  }

  /// The adapter of the reader.
  package var adapter: ReaderAdapter {
    ReaderAdapter.allCases.first { driver.hasPrefix("\($0.rawValue): ") } ?? .libfprint
  }
}

extension ReaderDescription {
  /// ``ReaderAdapter/sharesFingers`` of its adapter.
  package var sharesFingers: Bool { identity.adapter.sharesFingers }

  /// Whether the prints are kept outside of the store, on the reader's chip or by the service that shares them.
  package var keepsPrints: Bool { sharesFingers || features.contains(.storage) }
}

/// Which reader to use: the value of `--reader`.
public enum ReaderSelection: Sendable, Hashable, CustomStringConvertible {
  /// fprintd's first reader, or else the first physical one through libfprint.
  case automatic
  /// A reader through fprintd, with the fingers enrolled there: the first, or the one whose id or name is given.
  case fprintd(device: String?)
  /// A physical reader through libfprint: the first, or the one whose id or name is given.
  case libfprint(device: String?)
  /// libfprint's virtual image reader, on a socket it makes at this path.
  case virtualImage(socket: String)
  /// libfprint's virtual match-on-chip reader, on a socket it makes at this path.
  case virtualStorage(socket: String)
  /// A recording, replayed under `umockdev-run`.
  case replay(directory: String)

  /// Parses the value of `--reader`; nil if it is invalid.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let argument = parts.count == 2 ? String(parts[1]) : nil
    if let adapter = ReaderAdapter(rawValue: String(parts[0])), argument?.isEmpty != true {
      self.init(adapter, device: argument)
      return
    }
    switch (parts.first, argument) {
    case ("auto", nil): self = .automatic
    case ("virtual-image", .some(let socket)) where !socket.isEmpty: self = .virtualImage(socket: socket)
    case ("virtual-storage", .some(let socket)) where !socket.isEmpty: self = .virtualStorage(socket: socket)
    case ("replay", .some(let directory)) where !directory.isEmpty: self = .replay(directory: directory)
    default: return nil
    }
  }

  /// The readers of one adapter: the first, or the one whose id or name is given.
  package init(_ adapter: ReaderAdapter, device: String?) {
    self =
      switch adapter {
      case .fprintd: .fprintd(device: device)
      case .libfprint: .libfprint(device: device)
      }
  }

  /// The adapter of the selected readers; nil for any.
  package var adapter: ReaderAdapter? {
    switch self {
    case .automatic: nil
    case .fprintd: .fprintd
    case .libfprint, .virtualImage, .virtualStorage, .replay: .libfprint
    }
  }

  /// The id or name of the wanted reader; nil for the first.
  package var device: String? {
    switch self {
    case .fprintd(let device), .libfprint(let device): device
    default: nil
    }
  }

  /// The nature of the readers in a process started for this selection, except for those of an fprintd at a configured
  /// place.
  public var nature: ReaderDescription.Nature {
    switch self {
    case .virtualImage, .virtualStorage: .virtual
    case .replay: .replayed
    default: .physical
    }
  }

  /// The text that `init(_:)` parses.
  public var description: String {
    switch self {
    case .automatic: "auto"
    case .fprintd(let device), .libfprint(let device):
      ([adapter?.rawValue, device].compactMap(\.self)).joined(separator: ":")
    case .virtualImage(let socket): "virtual-image:\(socket)"
    case .virtualStorage(let socket): "virtual-storage:\(socket)"
    case .replay(let directory): "replay:\(directory)"
    }
  }
}

/// Where fprintd is: the bus it serves and the folder it keeps its templates in.
package struct FprintdPlace: Sendable, Hashable {
  /// The address of the bus: `unix:path=` and a full path.
  package var bus: String
  /// The folder of templates: `USER/DRIVER/DEVICE/FINGER` below it.
  package var templates: String

  package init(bus: String, templates: String) {
    self.bus = bus
    self.templates = templates
  }

  /// The machine's own fprintd. Only its readers are physical, and it must run as root.
  package static let system = FprintdPlace(
    bus: "unix:path=/run/dbus/system_bus_socket", templates: "/var/lib/fprint")
}
