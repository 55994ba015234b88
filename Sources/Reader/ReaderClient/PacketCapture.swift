// The recorded traffic, and the serial numbers in it.

internal import Primitives

/// Reduces a capture of USB packets (pcapng) to one device. Others on the bus may include the keyboard on which
/// passcodes are typed.
package enum PacketCapture {
  private static let sectionHeader: UInt32 = 0x0A0D_0D0A
  private static let byteOrder: UInt32 = 0x1A2B_3C4D
  private static let interface: UInt32 = 1
  private static let enhancedPacket: UInt32 = 6
  /// LINKTYPE_USB_LINUX and LINKTYPE_USB_LINUX_MMAPPED: both begin with the same header of usbmon.
  private static let usb: Set<UInt16> = [189, 220]

  /// The capture with the packets of one device, without anything about the machine it was made on.
  package static func only(
    bus: UInt16, device: UInt8, in capture: [UInt8]
  ) throws(RecordingError) -> [UInt8] {
    var kept: [UInt8] = []
    var offset = 0
    while offset < capture.count {
      guard let kind = number(capture, offset), let length = number(capture, offset + 4).map(Int.init), length >= 12,
        length % 4 == 0, offset + length <= capture.count
      else { throw malformed("is cut off or no capture") }
      let block = capture[offset..<offset + length]
      switch kind {
      case sectionHeader:
        guard length >= 28, number(capture, offset + 8) == byteOrder else {
          throw malformed("is of another byte order")
        }
        // Drop its options, which name the machine's processor and kernel, and the length of the section.
        kept += capture[offset..<offset + 4]
        kept += [28, 0, 0, 0]
        kept += capture[offset + 8..<offset + 16]
        kept += [UInt8](repeating: 0xFF, count: 8)
        kept += [28, 0, 0, 0]
      case interface:
        guard length >= 20, let type = number(capture, offset + 8), usb.contains(UInt16(truncatingIfNeeded: type))
        else {
          throw malformed("is of something else than USB")
        }
        kept += Self.block(kind, capture[offset + 8..<offset + 16] + (try clock(in: block.dropFirst(16).dropLast(4))))
      case enhancedPacket:
        // The packet's header: an id, a type, a transfer type, the endpoint, the device and the bus.
        guard let caught = number(capture, offset + 20).map(Int.init), caught >= 16, 32 + caught <= length else {
          throw malformed("has a packet without a header")
        }
        let packet = offset + 28
        let packetBus = UInt16(capture[packet + 12]) | UInt16(capture[packet + 13]) << 8
        if capture[packet + 11] == device, packetBus == bus {
          // Drop its options, which may contain a comment.
          kept += Self.block(kind, capture[offset + 8..<packet + (caught + 3) / 4 * 4])
        }
      default:
        // Statistics, names and comments, which a replay does not need.
        break
      }
      offset += length
    }
    return kept
  }

  private static func block(_ kind: UInt32, _ body: ArraySlice<UInt8>) -> [UInt8] {
    let length = bytes(UInt32(body.count + 12))
    return bytes(kind) + length + body + length
  }

  /// Keeps the options of an interface that define its times. The others name the system and the capture filter.
  private static func clock(in options: ArraySlice<UInt8>) throws(RecordingError) -> [UInt8] {
    let resolution: UInt8 = 9
    let offset: UInt8 = 14
    var kept: [UInt8] = []
    var rest = options
    while rest.count >= 4 {
      let head = Array(rest.prefix(4))
      let length = 4 + ((Int(head[2]) | Int(head[3]) << 8) + 3) / 4 * 4
      guard length <= rest.count else { throw malformed("is cut off or no capture") }
      if head[1] == 0, head[0] == resolution || head[0] == offset { kept += rest.prefix(length) }
      rest = rest.dropFirst(length)
    }
    return kept.isEmpty ? [] : kept + [0, 0, 0, 0]
  }

  private static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32? {
    guard offset + 4 <= bytes.count else { return nil }
    return (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
  }

  private static func malformed(_ problem: String) -> RecordingError {
    RecordingError(path: "the capture", problem: problem)
  }
}

/// The serial numbers in a recording. They are replaced by zeros of the same length, so that the formats of packets and
/// logs stay valid.
package struct SerialNumbers: Sendable, Equatable {
  /// The numbers as the devices report them.
  package let numbers: [String]

  /// Finds the numbers of the reader and of its hubs in a description by `umockdev-record`.
  package init(in description: [UInt8]) {
    let text = String(decoding: description, as: UTF8.self)
    var found: [String] = []
    for line in text.split(separator: "\n") {
      for prefix in ["A: serial=", "E: ID_SERIAL_SHORT="] where line.hasPrefix(prefix) {
        // sysfs attributes end in a newline, which older versions write as two characters.
        var value = String(line.dropFirst(prefix.count))
        if value.hasSuffix("\\n") { value.removeLast(2) }
        if !value.isEmpty, !Self.isAddress(value), !found.contains(value) { found.append(value) }
      }
    }
    numbers = found
  }

  /// The serial number of a host controller is its address on the PCI bus, which is part of every path.
  private static func isAddress(_ value: String) -> Bool {
    value.contains(":") && value.contains(".") && value.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
  }

  /// The description with the numbers blanked. A number of one to three characters is replaced only in the lines for
  /// serial numbers, because elsewhere it may mean something else.
  package func blanked(description: [UInt8]) -> [UInt8] {
    var bytes = description
    for number in numbers {
      let plain = Array(number.utf8)
      if plain.count >= Self.shortest {
        bytes = bytes.replacing(plain, with: Self.zeros(plain.count))
      } else {
        for prefix in ["A: serial=", "E: ID_SERIAL_SHORT="] {
          let key = Array(prefix.utf8)
          bytes = bytes.replacing(key + plain, with: key + Self.zeros(plain.count))
        }
      }
    }
    return bytes
  }

  /// The packets with the numbers blanked.
  package func blanked(packets: [UInt8]) -> [UInt8] {
    forms.reduce(packets) { $0.replacing($1.found, with: $1.blank) }
  }

  /// A log of ioctls, whose data is in hexadecimal digits, with the numbers blanked.
  package func blanked(ioctls: [UInt8]) -> [UInt8] {
    forms.reduce(ioctls) { log, form in
      let (found, blank) = (Hexadecimal.text(of: form.found), Hexadecimal.text(of: form.blank))
      return log.replacing(Array(found.utf8), with: Array(blank.utf8))
        .replacing(Array(found.uppercased().utf8), with: Array(blank.uppercased().utf8))
    }
  }

  private static let shortest = 4

  /// The forms in which a device may send its number: as text, as a USB string (UTF-16), or as bytes if the text is
  /// hexadecimal, in either order.
  private var forms: [(found: [UInt8], blank: [UInt8])] {
    numbers.filter { $0.utf8.count >= Self.shortest }.flatMap { number in
      let plain = Array(number.utf8)
      let wide = number.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      var forms = [
        (plain, Self.zeros(plain.count)), (wide, (0..<number.utf16.count).flatMap { _ in [UInt8(ascii: "0"), 0] }),
      ]
      if let bytes = Hexadecimal.bytes(in: number), bytes.count >= Self.shortest {
        let none = [UInt8](repeating: 0, count: bytes.count)
        forms += [(bytes, none), (bytes.reversed(), none)]
      }
      return forms
    }
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "0"), count: count) }
}

extension [UInt8] {
  /// Replaces every occurrence of some bytes by as many others.
  fileprivate func replacing(_ wanted: [UInt8], with others: [UInt8]) -> [UInt8] {
    guard let first = wanted.first, wanted.count == others.count, count >= wanted.count, wanted != others else {
      return self
    }
    var result = self
    var index = 0
    while index + wanted.count <= count {
      if self[index] == first, self[index..<index + wanted.count].elementsEqual(wanted) {
        result.replaceSubrange(index..<index + wanted.count, with: others)
        index += wanted.count
      } else {
        index += 1
      }
    }
    return result
  }
}
