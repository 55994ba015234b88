internal import Primitives
internal import Synchronization
internal import Testing

/// Holds a secret as types of the vault do. It is not private, because the printed name of a private type contains an
/// address, whose digits could equal the secret's.
final class Holder: Sendable {
  let secret: SecretBytes
  let name = "holder"

  init(_ secret: consuming SecretBytes) { self.secret = secret }
}

@Suite struct SecretBytesTests {
  @Test(
    "a new secret is all zeros, whatever its size",
    arguments: [0, 1, 32, 255, 256, 257, 1024, 1025, 4096, 4097, 1 << 20 + 3])
  func zeroFilled(count: Int) {
    let secret = SecretBytes(count: count)
    #expect(secret.count == count)
    #expect(secret.isEmpty == (count == 0))
    #expect(bytes(of: secret) == [UInt8](repeating: 0, count: count))
    let hasAddress = secret.withUnsafeBytes { $0.baseAddress != nil }
    #expect(hasAddress)
  }

  @Test("a new secret is all zeros even in memory that another secret has used")
  func zeroFilledAgain() {
    for count in [1, 32, 256, 1024, 5000] {
      for _ in 0..<200 {
        var secret = SecretBytes(count: count)
        #expect(bytes(of: secret).allSatisfy { $0 == 0 })
        secret.withUnsafeMutableBytes { for index in $0.indices { $0[index] = 0xA5 } }
      }
    }
  }

  @Test("a copy of a secret holds the same bytes and changes independently", arguments: [0, 5, 300, 10_000])
  func copies(count: Int) {
    let original = SecretBytes(copying: pattern(count).span)
    var copy = original.copy()
    #expect(bytes(of: copy) == pattern(count))
    guard count > 0 else { return }
    copy.withUnsafeMutableBytes { $0[0] ^= 1 }
    #expect(bytes(of: original) == pattern(count))
    let fromBuffer = pattern(count).withUnsafeBytes { bytes(of: SecretBytes(copying: $0)) }
    #expect(fromBuffer == pattern(count))
  }

  @Test("secrets are equal if they have the same bytes and length")
  func equality() {
    let secret = SecretBytes(copying: pattern(100).span)
    let twin = SecretBytes(copying: pattern(100).span)
    let shorter = SecretBytes(copying: pattern(99).span)
    let emptiness = SecretBytes(count: 0).constantTimeEquals(SecretBytes(count: 0))
    #expect(emptiness)
    let same = secret.constantTimeEquals(twin)
    #expect(same)
    let different = !secret.constantTimeEquals(shorter) && !shorter.constantTimeEquals(secret)
    #expect(different)
    for position in 0..<100 {
      var other = secret.copy()
      other.withUnsafeMutableBytes { $0[position] ^= 0x80 }
      let seen = !secret.constantTimeEquals(other)
      #expect(seen, "a difference in byte \(position) went unseen")
    }
  }

  @Test("a resized secret keeps its bytes, and the added ones are zero")
  func resizing() {
    var secret = SecretBytes(copying: pattern(200).span)
    for (size, kept) in [(10, 10), (250, 10), (5000, 10), (3, 3), (100_000, 3), (0, 0), (300, 0)] {
      secret.resize(to: size)
      #expect(secret.count == size)
      #expect(bytes(of: secret) == pattern(kept) + [UInt8](repeating: 0, count: size - kept))
    }
  }

  @Test("withUnsafeBytes of a secret passes on its closure's result or error, including noncopyable values")
  func loans() {
    let secret = SecretBytes(copying: pattern(8).span)
    let half = secret.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<4])) }
    #expect(bytes(of: half) == pattern(4))
    #expect(throws: ReadError.endOfInput) {
      try secret.withUnsafeBytes { (_) throws(ReadError) in throw .endOfInput }
    }
  }

  // The secret itself needs no such test: a noncopyable value cannot be printed, because that does not compile.
  @Test("a type that holds a secret prints neither its bytes nor its length")
  func neverPrinted() {
    let holder = Holder(SecretBytes(copying: [UInt8](repeating: UInt8(ascii: "s"), count: 4711).span))
    var dumped = ""
    dump(holder, to: &dumped)
    let mirror = Mirror(reflecting: holder)
    let children = mirror.children.map { "\($0.label ?? ""): \($0.value) \(String(reflecting: $0.value))" }
    let texts = ["\(holder)", String(reflecting: holder), dumped, children.joined(separator: "\n")]
    #expect(texts[2].contains("holder"), "the dump does not look inside, so it proves nothing")
    for text in texts {
      #expect(!text.contains("sss"))
      #expect(!text.contains("115"))
      #expect(!text.contains("4711"))
      #expect(!text.contains("0x"))
    }
    for child in mirror.children where child.label == "secret" {
      #expect(Mirror(reflecting: child.value).children.isEmpty)
    }
  }

  @Test("thousands of secrets in many concurrent tasks do not overwrite one another")
  func sharing() async {
    let mistakes = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var mistakes = 0
          for round in 0..<20 {
            let holders = (0..<100).map { index in
              let mark = UInt8(truncatingIfNeeded: task * 31 + round * 7 + index)
              return (mark, Holder(SecretBytes(copying: [UInt8](repeating: mark, count: 1 + index * 3).span)))
            }
            await Task.yield()
            for (mark, holder) in holders {
              mistakes += holder.secret.withUnsafeBytes { $0.count { $0 != mark } }
            }
          }
          return mistakes
        }
      }
      return await group.reduce(0, +)
    }
    #expect(mistakes == 0)
  }
}

func pattern(_ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
}

func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
  secret.withUnsafeBytes { Array($0) }
}
