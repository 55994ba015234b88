internal import Primitives
internal import Testing

@testable internal import Keys

@Suite("Random bytes")
struct RandomTests {
  @Test("random bytes have the requested length and differ each time")
  func lengthAndDifference() throws {
    let first = bytes(of: try Random.key(32))
    let second = bytes(of: try Random.key(32))
    #expect(first.count == 32)
    #expect(first != second)
    #expect(first.contains { $0 != 0 })
    #expect(try Random.bytes(16) != Random.bytes(16))
    #expect(try Random.bytes(16).count == 16)
  }
}
