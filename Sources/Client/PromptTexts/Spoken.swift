package import Fingerprint
internal import Glibc
package import SecretModel

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
  package static func leadingFinger(_ finger: Finger) -> String { "T" + Self.finger(finger).dropFirst() }

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
    guard reader.nature == .physical else { return "the reader\(nature(reader.nature))" }
    return request.isOnlyReader ? "the fingerprint reader" : "the reader (\(Visible.text(reader.name)))"
  }

  /// " (virtual reader)", or nothing for a physical one.
  package static func nature(_ nature: ReaderDescription.Nature) -> String {
    switch nature {
    case .physical: ""
    case .virtual: " (virtual reader)"
    case .replayed: " (replayed reader)"
    }
  }
}
