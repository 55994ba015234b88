package import Fingerprint
internal import Glibc
internal import Primitives
package import SDBus
internal import SecureMemory

/// The outcome of a capture as the results of its method: the reason of a retry, and the picture.
extension CaptureOutcome {
  package var busValues: [BusValue] {
    switch self {
    case .picture(let picture): [.string(""), picture.busValue]
    case .retry(let reason): [.string(reason.rawValue), .dictionary([:])]
    }
  }

  /// Nil if the values have the wrong types, contain a picture that was not requested, or lack one that was.
  package init?(_ values: [BusValue], includingImage: Bool) {
    guard values.count == 2, let reason = values[0].asString, let entries = values[1].asDictionary else { return nil }
    if reason.isEmpty {
      guard let picture = FingerPicture(entries), (picture.file != nil) == includingImage else { return nil }
      self = .picture(picture)
    } else {
      guard entries.isEmpty, let why = RetryReason(rawValue: reason) else { return nil }
      self = .retry(why)
    }
  }
}

extension FingerPicture {
  /// The size limit of a picture in bytes; larger than that of any reader.
  private static let largestFile = 64 << 20

  fileprivate var busValue: BusValue {
    var entries: [String: BusValue] = [
      "width": .uint32(UInt32(clamping: width)), "height": .uint32(UInt32(clamping: height)),
      "minutiae": .uint32(UInt32(clamping: minutiae)),
      "contrast": .uint32(UInt32(clamping: contrast)),
    ]
    entries["resolution"] = resolution.map { .uint32(UInt32(clamping: $0)) }
    entries["image"] = file.map { .descriptor(BusDescriptor(taking: duplicate($0.sealed.descriptor))) }
    return .dictionary(entries)
  }

  /// Nil if something is missing or has the wrong type, or if the file is not sealed, not PNG or of another size.
  fileprivate init?(_ entries: [String: BusValue]) {
    func number(_ key: String, _ range: ClosedRange<Int>) -> Int? {
      entries[key]?.number(in: range)
    }
    // FpImage has sides of 16 bits.
    guard let width = number("width", 1...0xFFFF), let height = number("height", 1...0xFFFF),
      let minutiae = number("minutiae", 0...width * height), let contrast = number("contrast", 0...255)
    else { return nil }
    var file: PictureFile?
    if let image = entries["image"] {
      guard let descriptor = image.asDescriptor,
        let received = try? SealedFile(received: duplicate(descriptor.rawValue), limit: Self.largestFile),
        let size = received.pictureSize, size == (width, height)
      else { return nil }
      file = PictureFile(received)
    }
    self.init(
      width: width, height: height, resolution: number("resolution", 0...Int(Int32.max)), minutiae: minutiae,
      contrast: contrast, file: file)
  }
}

extension SealedFile {
  /// The width and the height in pixels from the header of a PNG file. Nil if it is not one.
  fileprivate var pictureSize: (width: Int, height: Int)? {
    // The signature, and the chunk IHDR with its length, its name, the width and the height, all big-endian (PNG
    // specification, 5.2 and 11.2.1).
    let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    guard let header = try? secret(at: Place(offset: 0, count: start.count + 8)) else { return nil }
    return header.withUnsafeBytes { bytes in
      guard bytes.starts(with: start) else { return nil }
      func side(at offset: Int) -> Int? {
        OutsideNumber(bigEndian: bytes[offset..<offset + 4]).number(in: 1...0xFFFF)
      }
      guard let width = side(at: start.count), let height = side(at: start.count + 4) else { return nil }
      return (width, height)
    }
  }
}

/// A duplicate that the caller owns. -1 if there is no free descriptor.
private func duplicate(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
