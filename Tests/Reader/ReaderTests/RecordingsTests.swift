import Glibc
import ReaderClient
import Testing

@Suite("Blanking serial numbers in a recording")
struct SerialNumberTests {
  private static let description = """
    P: /devices/pci0000:00/0000:00:14.0/usb1/1-9
    N: bus/usb/001/004=1201
    E: DEVNAME=/dev/bus/usb/001/004
    E: DEVLINKS=/dev/fingerprint/by-id/06cb_00bd_c087f7d72126
    E: ID_SERIAL=06cb_00bd_c087f7d72126
    E: ID_SERIAL_SHORT=c087f7d72126
    A: serial=c087f7d72126\\n

    P: /devices/pci0000:00/0000:00:14.0/usb1/1
    A: serial=42
    A: busnum=42

    P: /devices/pci0000:00/0000:00:14.0/usb1
    E: ID_SERIAL_SHORT=0000:00:14.0
    A: serial=0000:00:14.0

    """
  private static let numbers = SerialNumbers(in: Array(description.utf8))

  @Test("serial numbers of the reader and its port are found in a recording, and no controller's address")
  func found() {
    #expect(Self.numbers.numbers == ["c087f7d72126", "42"])
  }

  @Test("a blanked recording keeps its description's length and paths, and short numbers outside serial fields")
  func described() {
    let blanked = String(decoding: Self.numbers.blanked(description: Array(Self.description.utf8)), as: UTF8.self)
    #expect(blanked.utf8.count == Self.description.utf8.count)
    #expect(!blanked.contains("c087f7d72126"))
    #expect(blanked.contains("ID_SERIAL=06cb_00bd_000000000000\n") && blanked.contains("A: serial=000000000000\\n"))
    #expect(blanked.contains("A: serial=00\nA: busnum=42\n"))
    #expect(
      blanked.contains("A: serial=0000:00:14.0") && blanked.contains("P: /devices/pci0000:00/0000:00:14.0/usb1\n"))
  }

  @Test("a blanked recording's packets contain no serial number as text, USB string, or bytes in either order")
  func packets() {
    let raw: [UInt8] = [0xC0, 0x87, 0xF7, 0xD7, 0x21, 0x26]
    func wide(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { [$0, 0] as [UInt8] } }
    func between(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined(separator: [0xAA, 0xBB])) }
    let text = Array("c087f7d72126".utf8)
    let none = [UInt8](repeating: 0, count: 6)
    let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: 12)
    let blanked = Self.numbers.blanked(packets: between([[1], raw, text, wide(text), raw.reversed(), [2]]))
    #expect(blanked == between([[1], none, zeros, wide(zeros), none, [2]]))
  }

  @Test("a blanked recording's log of ioctls contains the serial number in no spelling")
  func ioctls() {
    let log = "USBDEVFS_REAPURB 1 129 0 0 64 6 0 01C087F7D7212602\nUSBDEVFS_REAPURB 1 129 0 0 64 6 0 6330383766376437\n"
    let blanked = String(
      decoding: Self.numbers.blanked(ioctls: Array((log + "633038376637643732313236").utf8)), as: UTF8.self)
    #expect(blanked.hasPrefix("USBDEVFS_REAPURB 1 129 0 0 64 6 0 0100000000000002\n"))
    #expect(blanked.hasSuffix("303030303030303030303030"))
  }
}

@Suite("Reducing a USB capture to the reader")
struct PacketCaptureTests {
  private static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  private static func block(_ kind: UInt32, _ body: [UInt8]) -> [UInt8] {
    let length = word(UInt32(body.count + 12))
    return word(kind) + length + body + length
  }

  private static func packet(bus: UInt8, device: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: 64)
    (header[11], header[12]) = (device, bus)
    let data = header + payload
    let length = word(UInt32(data.count))
    return block(6, word(0) + word(0) + word(0) + length + length + data)
  }

  private static let header = block(
    0x0A0D_0D0A, word(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 7, count: 8) + Array("a very fast CPU!".utf8))
  private static let interface = block(1, [220, 0, 0, 0] + word(0))

  @Test("a USB capture is reduced to the reader's packets, without information about the machine")
  func cut() throws {
    let own = Self.packet(bus: 1, device: 4, Array("mine".utf8))
    let capture =
      Self.header + Self.interface + Self.packet(bus: 1, device: 5, Array("keys".utf8)) + own
      + Self.packet(bus: 2, device: 4, Array("disk".utf8)) + Self.block(5, Array("statistics!!".utf8)) + own
    let cut = try PacketCapture.only(bus: 1, device: 4, in: capture)
    let header = Self.block(0x0A0D_0D0A, Self.word(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
    #expect(cut == header + Self.interface + own + own)
    #expect(try PacketCapture.only(bus: 1, device: 4, in: cut) == cut)
  }

  @Test(
    "a reduced USB capture keeps its time resolution, and no notes about the machine and packets")
  func options() throws {
    let unit: [UInt8] = [9, 0, 1, 0, 9, 0, 0, 0]
    let system = [12, 0, 14, 0] + Array("Linux of mine!".utf8) + [0, 0]
    let comment = [1, 0, 8, 0] + Array("my house".utf8)
    let end: [UInt8] = [0, 0, 0, 0]
    let told = Self.block(1, [220, 0, 0, 0] + Self.word(0) + system + unit + end)
    let own = Self.packet(bus: 1, device: 4, Array("mine".utf8))
    let noted = Self.block(6, own[8..<own.count - 4] + comment + end)
    let cut = try PacketCapture.only(bus: 1, device: 4, in: Self.header + told + noted)
    #expect(cut.suffix(own.count).elementsEqual(own))
    #expect(
      cut.dropLast(own.count).suffix(32).elementsEqual(Self.block(1, [220, 0, 0, 0] + Self.word(0) + unit + end)))
    for words in ["Linux", "house"] { #expect(!String(decoding: cut, as: UTF8.self).contains(words)) }
    // A capture whose lengths exceed the file.
    for wrong in [
      Self.block(1, [220, 0, 0, 0] + Self.word(0) + [9, 0, 200, 0]),
      Self.block(
        6,
        Self.word(0) + Self.word(0) + Self.word(0) + Self.word(200) + Self.word(64) + [UInt8](repeating: 0, count: 64)),
    ] {
      #expect(throws: RecordingError.self) { try PacketCapture.only(bus: 1, device: 4, in: Self.header + wrong) }
    }
  }

  @Test("a truncated USB capture, another kind of capture and other files are refused")
  func refused() {
    let network = Self.block(1, [1, 0, 0, 0] + Self.word(0))
    for bytes in [
      Self.header.dropLast(), Self.header + network, Self.header + Self.block(6, Self.word(0)), Array("P: /dev".utf8),
    ] {
      #expect(throws: RecordingError.self) { try PacketCapture.only(bus: 1, device: 4, in: Array(bytes)) }
    }
  }
}

@Suite("A recording's folder")
struct RecordingFolderTests {
  private func with(_ files: [String: String], _ body: (String) throws -> Void) throws {
    var template = Array("/tmp/whorl-recording-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      for name in files.keys { unlink("\(folder)/\(name)") }
      rmdir(folder)
    }
    for (name, text) in files {
      let file = try #require(fopen("\(folder)/\(name)", "w"))
      fputs(text, file)
      fclose(file)
    }
    try body(folder)
  }

  private static let device =
    "P: /devices/usb1/1-9\nE: DEVNAME=/dev/bus/usb/001/004\n\nP: /devices/usb1\nE: DEVNAME=/dev/x\n"

  @Test("a recording is replayed from packets or ioctls, under either file name")
  func arguments() throws {
    for name in ["capture.pcapng", "custom.pcapng"] {
      try with(["device": Self.device, name: ""]) { folder in
        let recording = try RecordingFolder(folder)
        #expect(
          recording.replayArguments == ["-d", "\(folder)/device", "-p", "/sys/devices/usb1/1-9=\(folder)/\(name)"])
        #expect(recording.address?.bus == 1 && recording.address?.device == 4)
      }
    }
    try with(["device": Self.device, "capture.ioctl": ""]) { folder in
      let recording = try RecordingFolder(folder)
      #expect(
        recording.replayArguments
          == ["-d", "\(folder)/device", "-i", "/dev/bus/usb/001/004=\(folder)/capture.ioctl"])
    }
  }

  @Test("a recording's folder is refused if it describes no device")
  func refused() throws {
    try with(["device": "E: nothing\n"]) { folder in
      #expect(throws: RecordingError.self) { try RecordingFolder(folder) }
    }
    #expect(throws: RecordingError.self) { try RecordingFolder("/nonexistent") }
  }
}
