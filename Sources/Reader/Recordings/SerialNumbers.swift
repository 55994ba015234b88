internal import Primitives

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
