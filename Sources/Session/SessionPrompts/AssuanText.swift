package import Primitives

/// Text in lines of the Assuan protocol, between GnuPG's agent and a pinentry.
package enum AssuanText {
  /// The most bytes of a line, without its end.
  package static let lineLimit = 1_000

  /// Encodes text as an argument: `%`, line breaks and other characters that end the line become `%NN`.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar == "%" || scalar.value < 0x20 {
        escaped += "%" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16, uppercase: true)
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Encodes a secret as data: as many `D` lines as its length needs, each with its line feed.
  package static func dataLines(_ secret: borrowing SecretBytes) -> SecretBytes {
    // Each byte becomes three at most, with "D " and the line feed around them.
    let most = (lineLimit - 2) / 3
    let lineCount = (secret.count + most - 1) / most
    var lines = SecretBytes(count: 3 * secret.count + 3 * lineCount)
    var count = 0
    secret.withUnsafeBytes { secret in
      lines.withUnsafeMutableBytes { lines in
        func put(_ byte: UInt8) {
          lines[count] = byte
          count += 1
        }
        for (place, byte) in secret.enumerated() {
          if place.isMultiple(of: most) {
            if place > 0 { put(UInt8(ascii: "\n")) }
            put(UInt8(ascii: "D"))
            put(UInt8(ascii: " "))
          }
          if byte == UInt8(ascii: "%") || byte < 0x20 {
            put(UInt8(ascii: "%"))
            put(digit(byte >> 4))
            put(digit(byte & 0xF))
          } else {
            put(byte)
          }
        }
        if !secret.isEmpty { put(UInt8(ascii: "\n")) }
      }
    }
    lines.resize(to: count)
    return lines
  }

  /// Decodes data in which `%NN` stands for a byte.
  ///
  /// - Parameter start: where the data begins in the line.
  package static func unescaped(_ line: borrowing SecretBytes, from start: Int) -> SecretBytes {
    var data = SecretBytes(count: line.count)
    var count = 0
    line.withUnsafeBytes { line in
      data.withUnsafeMutableBytes { data in
        var next = start
        while next < line.count {
          var byte = line[next]
          next += 1
          if byte == UInt8(ascii: "%"), next + 2 <= line.count, let high = value(line[next]),
            let low = value(line[next + 1])
          {
            byte = high << 4 | low
            next += 2
          }
          data[count] = byte
          count += 1
        }
      }
    }
    data.resize(to: count)
    return data
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension SharedSecret {
  /// Whether the bytes begin with this text.
  package func begins(with prefix: String) -> Bool {
    bytes.withUnsafeBytes { $0.starts(with: prefix.utf8) }
  }
}
