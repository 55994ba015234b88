internal import Primitives

/// A message between a browser and a program of the machine: its length in four bytes, in the machine's order, and JSON
/// ("native messaging" of Firefox and Chromium).
enum NativeFrame {
  /// The longest message in either direction, in bytes. Browsers take no longer one.
  static let limit = 1 << 20

  enum Problem: Error {
    /// The browser has closed the connection.
    case ended
    /// It is longer than the protocol allows, or broken off; nothing after it can be read.
    case broken
  }

  /// Reads the next message.
  static func read(from descriptor: Int32) throws(Problem) -> SharedSecret {
    let size = MemoryLayout<UInt32>.size
    guard let head = try? SharedSecret(SecretBytes.read(from: descriptor, upTo: size)) else { throw .broken }
    guard head.bytes.count == size else { throw head.bytes.isEmpty ? .ended : .broken }
    let given = head.bytes.withUnsafeBytes { OutsideNumber($0.loadUnaligned(as: UInt32.self)) }
    guard let length = given.number(in: 0...limit),
      let message = try? SharedSecret(SecretBytes.read(from: descriptor, upTo: length)), message.bytes.count == length
    else { throw .broken }
    return message
  }

  /// Writes a message of at most ``limit`` bytes.
  static func write(_ text: String, to descriptor: Int32) throws(WriteError) {
    let bytes = Array(text.utf8)
    let length = withUnsafeBytes(of: UInt32(clamping: bytes.count)) { Array($0) }
    try SecretBytes(copying: (length + bytes).span).write(to: descriptor)
  }
}
