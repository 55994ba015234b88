internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct CanonicalEncodingTests {
  private struct Part: Hashable {
    var tag: UInt8
    var bytes: [UInt8]?
  }

  @Test("different random sequences of parts have different canonical encodings, and each is decoded again")
  func injective() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = Seeded(seed: seed)
    var seen: [[UInt8]: [Part]] = [:]
    for _ in 0..<20_000 {
      // Use few tags, and bytes that look like tags and lengths, to make collisions likely.
      let parts = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
        let count = Int.random(in: -1...6, using: &generator)
        return Part(
          tag: .random(in: 0...2, using: &generator),
          bytes: count < 0 ? nil : (0..<count).map { _ in [0, 1, 2, 255].randomElement(using: &generator) ?? 0 })
      }
      let bytes = encode(parts)
      #expect(decode(bytes) == parts, "seed \(seed)")
      let other = seen.updateValue(parts, forKey: bytes)
      #expect(other == nil || other == parts, "seed \(seed)")
    }
    #expect(seen.count > 5000, "too few different sequences to prove anything, seed \(seed)")
  }

  @Test("the canonical encoding of a part is its tag, big-endian length and bytes")
  func layout() {
    var encoding = CanonicalEncoding()
    encoding.append(tag: 1, "é")
    encoding.append(tag: 2, [9, 8, 7])
    encoding.append(tag: 3, UInt64(0x0102_0304_0506_0708))
    encoding.appendAbsence(tag: 4)
    #expect(
      encoding.bytes
        == hex("01 00000002 c3a9  02 00000003 090807  03 00000008 0102030405060708  04 ffffffff"))
  }

  @Test("a part of another tag, length or type than the expected one is not decoded")
  func unexpected() {
    var encoding = CanonicalEncoding()
    encoding.append(tag: 7, [1, 2, 3])
    let whole = encoding.bytes
    for count in 0..<whole.count {
      var decoder = CanonicalDecoder(Array(whole.prefix(count)))
      #expect(throws: CanonicalDecoder.Unexpected.self, "\(count) bytes") { try decoder.bytes(7) }
    }
    #expect(throws: CanonicalDecoder.Unexpected.self) {
      var decoder = CanonicalDecoder(whole)
      return try decoder.bytes(8)
    }
    for count in [0, 7, 9] {
      var encoding = CanonicalEncoding()
      encoding.append(tag: 7, repeated(0xff, count))
      #expect(throws: CanonicalDecoder.Unexpected.self) {
        var decoder = CanonicalDecoder(encoding.bytes)
        return try decoder.number(7)
      }
      guard count > 0 else { continue }
      #expect(throws: CanonicalDecoder.Unexpected.self) {
        var decoder = CanonicalDecoder(encoding.bytes)
        return try decoder.string(7)
      }
    }
  }

  @Test("the canonical encoding of an absent part differs from that of an empty part, of zero and of no part")
  func absence() {
    var encodings: Set<CanonicalEncoding> = [CanonicalEncoding()]
    for write: (inout CanonicalEncoding) -> Void in [
      { $0.append(tag: 1, optional: [UInt8]?.none) },
      { $0.append(tag: 1, optional: [UInt8]()) },
      { $0.append(tag: 1, optional: UInt64(0)) },
    ] {
      var encoding = CanonicalEncoding()
      write(&encoding)
      encodings.insert(encoding)
    }
    #expect(encodings.count == 4)
    var absent = CanonicalEncoding()
    absent.append(tag: 1, optional: String?.none)
    #expect(encodings.contains(absent))
  }

  @Test("strings that only look the same have different canonical encodings")
  func normalisation() {
    var composed = CanonicalEncoding()
    composed.append(tag: 1, "\u{e9}")
    var decomposed = CanonicalEncoding()
    decomposed.append(tag: 1, "e\u{301}")
    #expect(composed != decomposed)
  }

  @Test("secrets in locked memory are joined in the canonical encoding")
  func concatenation() {
    var secrets = SecretConcatenation()
    var plain = CanonicalEncoding()
    let emptyAtFirst = secrets.isEmpty
    #expect(emptyAtFirst)
    for (tag, count) in [(1, 32), (2, 0), (3, 500), (1, 32)] as [(UInt8, Int)] {
      secrets.append(tag: tag, secret(repeated(tag, count)))
      plain.append(tag: tag, repeated(tag, count))
    }
    let emptyAtLast = secrets.isEmpty
    #expect(!emptyAtLast)
    #expect(bytes(of: secrets.bytes) == plain.bytes)
  }

  private func encode(_ parts: [Part]) -> [UInt8] {
    var encoding = CanonicalEncoding()
    for part in parts { encoding.append(tag: part.tag, optional: part.bytes) }
    return encoding.bytes
  }

  /// A decoder written only from the description of the format.
  private func decode(_ bytes: [UInt8]) -> [Part]? {
    var rest = bytes[...]
    var parts: [Part] = []
    while let tag = rest.popFirst() {
      guard rest.count >= 4 else { return nil }
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      if length == 0xFFFF_FFFF {
        parts.append(Part(tag: tag, bytes: nil))
        continue
      }
      guard rest.count >= length else { return nil }
      parts.append(Part(tag: tag, bytes: Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return parts
  }
}
