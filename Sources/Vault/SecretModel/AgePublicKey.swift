internal import Primitives

/// A public key on Curve25519 that files are encrypted to in age's format.
package struct AgePublicKey: Sendable, Hashable, CustomStringConvertible {
  private static let prefix = "age"
  /// The length of the key, in bytes.
  package static let byteCount = 32

  package let bytes: [UInt8]

  /// Nil for another number of bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads the form that age prints: `age1` and 58 characters. Nil for anything else.
  package init?(parsing text: String) {
    guard let bytes = Bech32.bytes(in: text, prefix: Self.prefix) else { return nil }
    self.init(bytes: bytes)
  }

  package var description: String { Bech32.text(of: bytes, prefix: Self.prefix) }
}
