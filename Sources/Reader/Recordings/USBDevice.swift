internal import Glibc
internal import Primitives

/// A USB device of this machine, from sysfs.
package struct USBDevice: Sendable, Equatable {
  /// Such as `/dev/bus/usb/001/004`.
  package var node: String

  /// The devices of a model, and of a serial number if one is given.
  ///
  /// - Parameter folder: sysfs's list of USB devices; tests use another one.
  package static func all(
    vendor: UInt16, product: UInt16, serial: String?, in folder: String = "/sys/bus/usb/devices"
  ) -> [USBDevice] {
    var found: [USBDevice] = []
    for name in Folder.names(in: folder) ?? [] {
      func attribute(_ key: String) -> String? {
        guard let bytes = try? readAttribute("\(folder)/\(name)/\(key)") else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      }
      guard attribute("idVendor").flatMap({ UInt16($0, radix: 16) }) == vendor,
        attribute("idProduct").flatMap({ UInt16($0, radix: 16) }) == product,
        serial == nil || attribute("serial") == serial,
        let bus = attribute("busnum").flatMap({ Int($0) }), let number = attribute("devnum").flatMap({ Int($0) })
      else { continue }
      found.append(USBDevice(node: "/dev/bus/usb/\(padded(bus))/\(padded(number))"))
    }
    return found
  }

  private static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }

  /// sysfs reports 4096 bytes as the size of every file, so read to the end.
  private static func readAttribute(_ path: String) throws(RecordingError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw RecordingError(path: path, problem: String(cString: strerror(errno))) }
    defer { close(file) }
    return [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      // read: writes at most as much as it is told
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
  }
}
