import Glibc
import Primitives
import ReaderBus
import ReaderClient
import SDBus
import Testing
import VirtualFinger

@Suite("Capturing the picture of a finger", .serialized)
struct CaptureTests {
  private static let finger = SyntheticFinger(person: 1, finger: .rightIndex)

  private func capture(
    _ reader: VirtualReader, includingImage: Bool, _ press: (VirtualImageReader) throws -> Void
  ) async throws -> CaptureOutcome {
    let log = EventLog()
    async let outcome = reader.process.capture(includingImage: includingImage, observer: log.observe)
    try await log.wait(for: .fingerNeeded)
    try press(reader.image)
    return try await outcome
  }

  @Test("a capture measures the picture of a finger, and sends it only on request")
  func measured() async throws {
    try await VirtualReader.with(.image) { reader in
      #expect(try await reader.open().features.contains(.capture))
      let image = Self.finger.impression(1)
      for includingImage in [false, true] {
        guard
          case .picture(let picture) = try await capture(
            reader, includingImage: includingImage, { try $0.press(image) })
        else { return #expect(Bool(false), "a good finger gives a picture") }
        #expect(picture.width == image.width && picture.height == image.height)
        #expect(picture.quality == .good, "\(picture)")
        #expect((picture.file != nil) == includingImage)
        if includingImage { #expect(try GrayImage(picture.file) == image) }
      }
    }
  }

  @Test("a capture asks for another touch after an unreadable touch and after an empty picture")
  func again() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      guard case .retry(.tooShort) = try await capture(reader, includingImage: true, { try $0.retry(.tooShort) }) else {
        return #expect(Bool(false), "the touch was too short")
      }
      let blank = GrayImage(width: 200, height: 200, pixels: [UInt8](repeating: 255, count: 40_000))
      guard case .retry(.general) = try await capture(reader, includingImage: true, { try $0.press(blank) }) else {
        return #expect(Bool(false), "there is no minutia on a blank picture")
      }
    }
  }

  @Test("a capture is refused by a match-on-chip reader, and ends with its task")
  func cancelled() async throws {
    try await VirtualReader.with(.image) { reader in
      try await reader.open()
      let log = EventLog()
      let capture = Task { try await reader.process.capture(includingImage: true, observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      capture.cancel()
      #expect(await readerError { try await capture.value } == .cancelled)
    }
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      #expect(
        await readerError { try await reader.process.capture(includingImage: false, observer: { _ in }) }
          == .notSupported)
    }
  }
}

@Suite("The answer to a capture")
struct CaptureAnswerTests {
  private func picture(_ file: PictureFile?, resolution: Int? = 19_685) -> FingerPicture {
    FingerPicture(width: 8, height: 4, resolution: resolution, minutiae: 12, contrast: 99, file: file)
  }

  /// The start of a PNG file of 8 by 4 pixels.
  private static let header: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 8, 0, 0, 0, 4]

  private func file(_ bytes: [UInt8]) throws -> PictureFile {
    PictureFile(try SealedFile.make(of: SecretBytes(copying: bytes.span)))
  }

  private func read(_ outcome: CaptureOutcome, includingImage: Bool) -> CaptureOutcome? {
    let values = ReaderAnswer.capture(outcome).values
    guard case .capture(let read) = ReaderAnswer(to: .capture(includingImage: includingImage), values) else {
      return nil
    }
    return read
  }

  @Test("the answer to a capture survives encoding and decoding, with the picture and without it")
  func roundTrip() throws {
    guard case .retry(.centerFinger) = read(.retry(.centerFinger), includingImage: true) else {
      return #expect(Bool(false), "a retry stays one")
    }
    for resolution in [19_685, nil] {
      guard case .picture(let bare) = read(.picture(picture(nil, resolution: resolution)), includingImage: false) else {
        return #expect(Bool(false), "a picture stays one")
      }
      #expect(
        (bare.width, bare.height, bare.resolution, bare.minutiae, bare.contrast) == (8, 4, resolution, 12, 99))
      #expect(bare.file == nil)
    }
    guard case .picture(let whole) = read(.picture(picture(try file(Self.header))), includingImage: true) else {
      return #expect(Bool(false), "a picture stays one")
    }
    #expect(try whole.file?.sealed.secret().withUnsafeBytes { [UInt8]($0) } == Self.header)
  }

  @Test("the answer to a capture is refused with an unrequested picture, or without a requested one")
  func unasked() throws {
    #expect(read(.picture(picture(try file(Self.header))), includingImage: false) == nil)
    #expect(read(.picture(picture(nil)), includingImage: true) == nil)
  }

  @Test("the answer to a capture is refused if its file is no PNG, has a wrong size or is not sealed")
  func wrongFile() throws {
    var wide = Self.header
    wide[19] = 9
    for bytes in [wide, Array(Self.header.dropLast()), Array("#!/bin/sh\nrm -rf ~\n# and so on".utf8)] {
      #expect(read(.picture(picture(try file(bytes))), includingImage: true) == nil)
    }
    let values = ReaderAnswer.capture(.picture(picture(nil))).values
    var entries = try #require(values[1].asDictionary)
    let unsealed = try #require(tmpfile())
    defer { fclose(unsealed) }
    fwrite(Self.header, 1, Self.header.count, unsealed)
    fflush(unsealed)
    entries["image"] = .descriptor(BusDescriptor(taking: dup(fileno(unsealed))))
    #expect(ReaderAnswer(to: .capture(includingImage: true), [.string(""), .dictionary(entries)]) == nil)
  }

  @Test("the answer to a capture is refused with both a retry and a picture, and with numbers out of range")
  func wrongNumbers() throws {
    let values = ReaderAnswer.capture(.picture(picture(nil))).values
    let entries = try #require(values[1].asDictionary)
    let request = ReaderRequest.capture(includingImage: false)
    #expect(ReaderAnswer(to: request, [.string(""), .dictionary(entries)]) != nil)
    #expect(ReaderAnswer(to: request, [.string("too-short"), .dictionary(entries)]) == nil)
    for (key, value) in [("width", 0), ("height", 70_000), ("minutiae", 33), ("contrast", 256)] as [(String, UInt32)] {
      var wrong = entries
      wrong[key] = .uint32(value)
      #expect(ReaderAnswer(to: request, [.string(""), .dictionary(wrong)]) == nil, "\(key) \(value)")
      wrong[key] = nil
      #expect(ReaderAnswer(to: request, [.string(""), .dictionary(wrong)]) == nil, "no \(key)")
    }
  }
}

extension GrayImage {
  /// What is in the file of a picture.
  init(_ file: PictureFile?) throws {
    let file = try #require(file)
    try self.init(png: "/proc/self/fd/\(file.sealed.descriptor)")
  }
}
