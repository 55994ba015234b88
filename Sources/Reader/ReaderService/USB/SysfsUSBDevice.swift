// USB devices as the kernel shows them, without opening them, and which of them libfprint has drivers for.

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

/// The USB readers the installed libfprint has drivers for, by its hwdb.
///
/// libfprint and fprintd do not list a device that its driver cannot open, and report no error. Comparing with sysfs
/// shows whether there is no reader, or one that cannot be opened or is in use.
enum SupportedUSBReaders {
  /// A supported reader that is attached but that libfprint does not list.
  static func attached(besides listed: [SysfsUSBDevice]) -> SysfsUSBDevice? {
    let names = Set(listed.map(\.name))
    let candidates = SysfsUSBDevice.all().filter { !names.contains($0.name) }
    guard !candidates.isEmpty else { return nil }
    let supported = identifiers()
    return candidates.first { supported.contains(Identifier(vendor: $0.vendor, product: $0.product)) }
  }

  /// Why libfprint does not list a reader that is attached.
  static func reason(_ reader: SysfsUSBDevice) -> ReaderError? {
    if access(reader.node, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM {
      return .permissionDenied(reader.node)
    }
    return reader.isInUse ? .busy(holder: likelyHolder()) : nil
  }

  private struct Identifier: Hashable {
    let vendor: UInt16
    let product: UInt16
  }

  /// libfprint's own file, and the copy of it that systemd ships.
  private static let files = [
    "/usr/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb",
    "/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb",
    "/usr/lib/udev/hwdb.d/60-autosuspend-fingerprint-reader.hwdb",
  ]

  private static func identifiers() -> Set<Identifier> {
    for file in files {
      if let lines = textLines(of: file) { return identifiers(in: lines) }
    }
    return []
  }

  /// Lines such as `usb:v06CBp00BD*`, up to the list of devices without a driver.
  private static func identifiers(in lines: [Substring]) -> Set<Identifier> {
    var found: Set<Identifier> = []
    for line in lines {
      if line.hasPrefix("# Known unsupported") { break }
      guard line.hasPrefix("usb:v"), line.count >= 14 else { continue }
      let digits = line.dropFirst(5)
      if let vendor = UInt16(digits.prefix(4), radix: 16),
        let product = UInt16(digits.dropFirst(5).prefix(4), radix: 16)
      {
        found.insert(Identifier(vendor: vendor, product: product))
      }
    }
    return found
  }
}

/// The text of a small file in sysfs or procfs, without the newline at its end and without control characters (a device
/// chooses its own serial number). Nil if it cannot be read or is empty.
func smallFile(_ path: String, limit: Int = 4096) -> String? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    count = max(0, read(descriptor, buffer.baseAddress, limit))
  }
  let text = String(
    String.UnicodeScalarView(String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { $0.value >= 32 }))
  return text.isEmpty ? nil : text
}

/// The target of a symbolic link. Nil if it is not one or cannot be read.
func symbolicLink(_ path: String) -> String? {
  let capacity = Int(PATH_MAX)
  let bytes = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
    count = max(0, buffer.baseAddress.map { readlink(path, $0, capacity) } ?? 0)
  }
  return bytes.isEmpty ? nil : String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The lines of a text file of at most 1 MiB; nil when it cannot be read.
func textLines(of path: String) -> [Substring]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  let capacity = 1 << 20
  let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    while count < capacity {
      let length = read(descriptor, buffer.baseAddress.map { $0 + count }, capacity - count)
      guard length > 0 else { return }
      count += length
    }
  }
  return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
}
