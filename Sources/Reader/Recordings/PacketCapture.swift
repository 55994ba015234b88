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
