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
