/// What makes a reader the same reader tomorrow: its driver, USB ids and serial number.
///
/// The port counts only where sysfs calls the device fixed (built in), because a reader moved to another socket is
/// still the same reader, while two built-in readers of one model without serials are told apart by it.
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
