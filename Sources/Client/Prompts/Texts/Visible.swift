// Text that is safe to show, and values in words.

internal import Glibc
package import Primitives
package import SecretModel

/// Makes text safe to show. Characters that move the cursor, change the reading direction or break the line are
/// escaped, so that an item's name cannot imitate a prompt.
package enum Visible {
  package static func text(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar) {
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// The width of a text made safe by ``text(_:)``, in columns of a terminal.
  package static func columns(of text: String) -> Int {
    text.unicodeScalars.reduce(0) { count, scalar in
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: count
      default: count + (isWide(scalar) ? 2 : 1)
      }
    }
  }

  /// Whether the scalar is in one of the blocks whose characters take two columns (East Asian Width W and F).
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // C0, DEL and C1 controls; marks, embeddings and isolates of reading direction; line and paragraph separators.
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension Spoken {
  /// A day and time of the local clock.
  package static func time(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return "\(seconds)" }
    var text = [UInt8](repeating: 0, count: 32)
    // Writes at most the buffer's size into it and returns how much, without the terminator.
    let count = unsafe text.withUnsafeMutableBytes { buffer -> Int in
      guard let start = buffer.baseAddress else { return 0 }
      return unsafe strftime(start.assumingMemoryBound(to: CChar.self), buffer.count, "%Y-%m-%d %H:%M", &parts)
    }
    return String(decoding: text[..<count], as: UTF8.self)
  }

  /// "The left thumb".
  package static func leadingFinger(_ finger: Finger) -> String {
    let words = Self.finger(finger)
    return "\(words.prefix(1).uppercased())\(words.dropFirst())"
  }

  package static func plural(_ count: Int, _ noun: String, _ nouns: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : nouns ?? noun + "s")"
  }

  /// "Synaptics Sensors", with its nature if it is not a physical reader.
  package static func reader(_ reader: ReaderDescription) -> String {
    "\(Visible.text(reader.name))\(nature(reader.nature))"
  }

  /// For prompts: "the fingerprint reader". A person with several readers is told which one to touch: "the reader (Synaptics
  /// Sensors)". One that is not physical is always named: "the reader (virtual reader)".
  package static func theReader(_ request: TouchRequest) -> String {
    let reader = request.reader
    switch reader.nature {
    case .virtual: return Text.of("the reader (virtual reader)")
    case .replayed: return Text.of("the reader (replayed reader)")
    case .physical:
      return request.isOnlyReader
        ? Text.of("the fingerprint reader") : Text.of("the reader ({name})", ["name": Visible.text(reader.name)])
    }
  }

  /// " (virtual reader)", or nothing for a physical one.
  package static func nature(_ nature: ReaderDescription.Nature) -> String {
    switch nature {
    case .physical: ""
    case .virtual: " \(Text.of("(virtual reader)"))"
    case .replayed: " \(Text.of("(replayed reader)"))"
    }
  }
}
