// A recorded reader as a folder: its files. `PacketCapture.swift` has the traffic
// and what is blanked in it.

internal import Glibc
internal import Primitives

/// A recorded reader: a folder with the description of the device that `umockdev-record` wrote (`device`), and the
/// traffic with it: a capture of USB packets (`capture.pcapng`) or a log of ioctls (`capture.ioctl`). libfprint's own
/// tests name these `custom.pcapng` and `custom.ioctl`; both names are accepted.
package struct RecordingFolder: Sendable, Equatable {
  package enum Traffic: Sendable, Equatable {
    case packets(String)
    case ioctls(String)

    package var path: String {
      switch self {
      case .packets(let path), .ioctls(let path): path
      }
    }

    /// The file's name in a folder that Whorl makes.
    package var name: String {
      switch self {
      case .packets: "capture.pcapng"
      case .ioctls: "capture.ioctl"
      }
    }
  }

  package var path: String
  /// The device's path in sysfs, without `/sys`.
  package var device: String
  /// The device's node, such as `/dev/bus/usb/001/004`; nil if it has none.
  package var node: String?
  /// Nil if there is only the description.
  package var traffic: Traffic?

  /// The size limits of a description and of the traffic, in bytes.
  static let limits = (description: 4 << 20, traffic: 256 << 20)

  package var description: String { "\(path)/device" }

  /// Reads the description, not the traffic.
  package init(_ path: String) throws(RecordingError) {
    self.path = path
    let text = String(decoding: try readFile("\(path)/device", limit: Self.limits.description), as: UTF8.self)
    let first = text.prefix { $0 != "\n" }
    guard first.hasPrefix("P: /") else {
      throw RecordingError(path: "\(path)/device", problem: "is no recorded device")
    }
    device = String(first.dropFirst(3))
    let block = text.split(separator: "\n").prefix { $0 == first || !$0.hasPrefix("P: ") }
    node = block.first { $0.hasPrefix("E: DEVNAME=") }.map { String($0.dropFirst("E: DEVNAME=".count)) }
    for name in ["capture", "custom"] where traffic == nil {
      if access("\(path)/\(name).pcapng", R_OK) == 0 {
        traffic = .packets("\(path)/\(name).pcapng")
      } else if access("\(path)/\(name).ioctl", R_OK) == 0 {
        traffic = .ioctls("\(path)/\(name).ioctl")
      }
    }
  }

  /// The arguments of `umockdev-run` before the program.
  package var replayArguments: [String] {
    let load = ["-d", description]
    switch traffic {
    case .packets(let path): return load + ["-p", "/sys\(device)=\(path)"]
    case .ioctls(let path): return load + (node.map { ["-i", "\($0)=\(path)"] } ?? [])
    case nil: return load
    }
  }

  /// The bus and device numbers in the packets of a capture; nil if this is no USB device.
  package var address: (bus: UInt16, device: UInt8)? {
    let parts = (node ?? "").split(separator: "/")
    guard parts.count == 5, parts[2] == "usb", let bus = UInt16(parts[3]), let device = UInt8(parts[4]) else {
      return nil
    }
    return (bus, device)
  }
}

/// A recording that cannot be read, or written.
package struct RecordingError: Error, Sendable, Hashable {
  package var path: String
  /// The reason, worded to follow the path.
  package var problem: String

  package init(path: String, problem: String) {
    self.path = path
    self.problem = problem
  }
}

package func readFile(_ path: String, limit: Int) throws(RecordingError) -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard file >= 0 else { throw RecordingError(path: path, problem: String(cString: strerror(errno))) }
  defer { close(file) }
  var status = stat()
  guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
    throw RecordingError(path: path, problem: "is not a file, or is too large")
  }
  var isWhole = false
  let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
    while count < buffer.count {
      // read: writes at most as much as it is told
      let length = read(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
      guard length > 0 else { return }
      count += length
    }
    isWhole = true
  }
  guard isWhole else { throw RecordingError(path: path, problem: "cannot be read to its end") }
  return bytes
}

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
        // sysfs reports 4096 bytes as the size of every file.
        guard let bytes = try? SmallFile.read("\(folder)/\(name)/\(key)", limit: 4_096) else { return nil }
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
}
