internal import Glibc
internal import Primitives

/// A USB device as the kernel shows it in sysfs, without opening it.
struct SysfsUSBDevice: Sendable {
  /// The kernel's name of its port, such as `1-9`.
  let name: String
  let bus: Int
  let address: Int
  let vendor: UInt16
  let product: UInt16
  let serial: String?
  /// The port of a built-in device: the controller and the path from it. Without the bus number, which depends on the
  /// order in which the kernel found the controllers.
  let fixedPort: String?

  /// The device node that a program opens to use the device.
  var node: String { "/dev/bus/usb/\(padded(bus, 3))/\(padded(address, 3))" }

  /// `VENDOR:PRODUCT`, as `lsusb` shows it.
  var identifier: String { "\(padded(Int(vendor), 4, radix: 16)):\(padded(Int(product), 4, radix: 16))" }

  /// Whether a program has claimed an interface of the device: such an interface has the driver `usbfs`.
  var isInUse: Bool {
    (Folder.names(in: Self.folder) ?? []).contains { interface in
      interface.hasPrefix("\(name):")
        && symbolicLink("\(Self.folder)/\(interface)/driver")?.hasSuffix("/usbfs") == true
    }
  }

  private static let folder = "/sys/bus/usb/devices"

  /// All USB devices, without interfaces (`1-9:1.0`).
  static func all() -> [SysfsUSBDevice] {
    (Folder.names(in: folder) ?? []).filter { !$0.contains(":") }.compactMap(SysfsUSBDevice.init(name:))
  }

  private init?(name: String) {
    func attribute(_ attribute: String) -> String? { smallFile("\(Self.folder)/\(name)/\(attribute)") }
    guard let bus = attribute("busnum").flatMap({ Int($0) }), let address = attribute("devnum").flatMap({ Int($0) }),
      let vendor = attribute("idVendor").flatMap({ UInt16($0, radix: 16) }),
      let product = attribute("idProduct").flatMap({ UInt16($0, radix: 16) })
    else { return nil }
    self.name = name
    self.bus = bus
    self.address = address
    self.vendor = vendor
    self.product = product
    serial = attribute("serial")
    fixedPort = attribute("removable") == "fixed" ? Self.port(of: name, devpath: attribute("devpath")) : nil
  }

  /// `../../../devices/pci0000:00/0000:00:14.0/usb1/1-9` with the devpath `9` is `0000:00:14.0/9`.
  private static func port(of name: String, devpath: String?) -> String? {
    guard let devpath, let target = symbolicLink("\(folder)/\(name)") else { return nil }
    let parts = target.split(separator: "/")
    guard let root = parts.firstIndex(where: { $0.hasPrefix("usb") && Int($0.dropFirst(3)) != nil }), root > 0 else {
      return nil
    }
    return "\(parts[root - 1])/\(devpath)"
  }
}

private func padded(_ number: Int, _ length: Int, radix: Int = 10) -> String {
  let digits = String(number, radix: radix)
  return String(repeating: "0", count: max(0, length - digits.count)) + digits
}
