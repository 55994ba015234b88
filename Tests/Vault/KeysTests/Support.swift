internal import Primitives

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span) }

func secret(_ text: String) -> SecretBytes { secret(Array(text.utf8)) }

func bytes(of secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// Bytes from hexadecimal digits. Spaces and newlines are ignored.
func hex(_ digits: String) -> [UInt8] {
  guard let bytes = Hexadecimal.bytes(in: digits.filter { !$0.isWhitespace }) else { fatalError("not hexadecimal") }
  return bytes
}

/// An element in DER.
func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
  let count = content.count
  if count < 0x80 { return [tag, UInt8(count)] + content }
  if count < 0x100 { return [tag, 0x81, UInt8(count)] + content }
  if count < 0x10000 { return [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content }
  return [tag, 0x83, UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)] + content
}

func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

/// SplitMix64. The same seed gives the same numbers, so that a failure can be reproduced.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
