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
