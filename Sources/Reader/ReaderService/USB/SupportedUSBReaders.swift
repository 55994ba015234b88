internal import Fingerprint
internal import Glibc

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
