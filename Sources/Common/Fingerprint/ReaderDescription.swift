/// What a reader says of itself before it is opened.
public struct ReaderDescription: Sendable, Hashable, Codable {
  /// How the reader is driven. Prompts and `status` must say so when it is not a physical one.
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

  /// What a driver can do, by the nicknames of libfprint's `FpDeviceFeature`.
  public enum Feature: String, Sendable, Codable, CaseIterable {
    case capture, identify, verify, storage
    case storageList = "storage-list"
    case storageDelete = "storage-delete"
    case storageClear = "storage-clear"
    case duplicatesCheck = "duplicates-check"
    case alwaysOn = "always-on"
    case updatePrint = "update-print"
  }

  /// Identifies the reader among those of one reader process; not stable across processes.
  public var id: String
  /// The name the driver gives, for people.
  public var name: String
  /// What tells this reader from others, across processes and days.
  public var identity: ReaderIdentity
  /// How a finger is presented.
  public var scanType: ScanType
  /// Touches an enrolment takes.
  public var enrollStages: Int
  /// What the driver can do.
  public var features: Set<Feature>
  /// How warm the driver believes the reader to be.
  public var temperature: Temperature
  /// Whether this is a physical reader.
  public var nature: Nature

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
  /// Writes the features in the order of their names: a set has none, and the same reader should be the same text.
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
