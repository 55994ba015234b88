internal import Glibc
internal import Primitives

/// The text of a file that another program has written, as UTF-8.
enum FileText {
  /// The bytes that some programs write in front of a text in UTF-8.
  static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Converts a text in UTF-16, and returns every other text as it is.
  ///
  /// - Parameters:
  ///   - path: of the file; nil for standard input.
  ///   - isJSON: whether JSON is expected, of which other files are made as well.
  /// - Throws: `malformed` for a file that is not text.
  static func utf8(
    _ bytes: consuming SecretBytes, at path: String?, isJSON: Bool = false
  ) throws(ImportError) -> (bytes: SharedSecret, wasUTF16: Bool) {
    let found = bytes.withUnsafeBytes { bytes in
      (
        foreign: isJSON && isObject(bytes) ? nil : RefusedFormat.words(for: bytes, at: path),
        order: UTF16Order(of: bytes)
      )
    }
    if let foreign = found.foreign { throw .malformed(foreign) }
    let text = try found.order.map { (order) throws(ImportError) in try order.utf8(bytes) } ?? bytes.copy()
    let line = text.withUnsafeBytes { bytes in
      bytes.firstIndex(of: 0).map { end in bytes[..<end].count { $0 == UInt8(ascii: "\n") } + 1 }
    }
    if let line { throw .malformed("line \(line) has a NUL in it, which no text has") }
    return (SharedSecret(text), found.order != nil)
  }

  /// Whether a text in UTF-8 begins as an object of JSON does.
  private static func isObject(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let text = bytes.starts(with: utf8Mark) ? bytes.dropFirst(utf8Mark.count) : bytes[...]
    return text.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
  }
}

/// The order of the two bytes of a unit of UTF-16.
private enum UTF16Order {
  case bigEndian, littleEndian

  private static let mark: UInt16 = 0xFEFF

  /// Nil if the text is not UTF-16. Without a byte order mark it is recognized by its first character, which is ASCII
  /// in every export.
  init?(of bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 2 else { return nil }
    switch (bytes[0], bytes[1]) {
    case (0xFF, 0xFE): self = .littleEndian
    case (0xFE, 0xFF): self = .bigEndian
    case (1..., 0): self = .littleEndian
    case (0, 1...): self = .bigEndian
    default: return nil
    }
  }

  private func unit(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt16 {
    let (first, second) = (UInt16(bytes[2 * place]), UInt16(bytes[2 * place + 1]))
    return self == .bigEndian ? first << 8 | second : second << 8 | first
  }

  func utf8(_ bytes: borrowing SecretBytes) throws(ImportError) -> SecretBytes {
    let units = bytes.count / 2
    // A unit has at most three bytes in UTF-8, and a pair of units has four.
    var text = SecretBytes(count: units * 3)
    var count = 0
    var line = 1
    var isBroken = bytes.count % 2 != 0
    bytes.withUnsafeBytes { source in
      text.withUnsafeMutableBytes { target in
        func write(_ scalar: Unicode.Scalar) {
          for byte in scalar.utf8 {
            target[count] = byte
            count += 1
          }
          if scalar == "\n" { line += 1 }
        }
        var place = unit(source, 0) == Self.mark ? 1 : 0
        while place < units, !isBroken {
          let first = unit(source, place)
          place += 1
          if let scalar = Unicode.Scalar(UInt32(first)) {
            write(scalar)
            continue
          }
          let second = place < units ? unit(source, place) : 0
          place += 1
          guard UTF16.isLeadSurrogate(first), UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + UInt32(first & 0x3FF) << 10 + UInt32(second & 0x3FF))
          else {
            isBroken = true
            break
          }
          write(scalar)
        }
      }
    }
    guard !isBroken else { throw .malformed("line \(line) is not in UTF-16 as the lines before it are") }
    text.resize(to: count)
    return text
  }
}

// Searches in bytes that may be secret: no part of them is copied.

extension UnsafeRawBufferPointer {
  /// Whether this text is in it.
  func contains(_ text: String) -> Bool { place(of: text) != nil }

  /// Where this text begins first. Takes time in proportion to the length of both.
  func place(of text: String) -> Int? {
    var text = text
    return text.withUTF8 { part in
      guard let first = part.first, let wanted = part.baseAddress, let base = baseAddress else { return nil }
      var start = 0
      while start + part.count <= count {
        // Both borrow the bytes for the call; the part is no longer than what follows the place that was found.
        guard let found = memchr(base + start, Int32(first), count - part.count + 1 - start) else { return nil }
        let place = UnsafeRawPointer(found) - base
        if memcmp(found, wanted, part.count) == 0 { return place }
        start = place + 1
      }
      return nil
    }
  }
}
