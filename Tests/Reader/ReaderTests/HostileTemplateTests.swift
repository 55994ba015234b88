import Primitives
import ReaderClient
import Testing
import VirtualFinger

@Suite("A corrupted template", .serialized)
struct HostileTemplateTests {
  @Test("a corrupted template is read or gives a definite error, and the next request works", arguments: [20 as UInt64])
  func mutated(seed: UInt64) async throws {
    try await VirtualReader.with(.storage, showsDiagnostics: true) { reader in
      try await reader.open()
      let good = enrolled(try await reader.enroll("a").template)
      var random = SplitMix(state: seed)
      var endings: [String: Int] = [:]
      for number in 0..<80 {
        let bad = enrolled(Template(bytes: mutation(of: good.template.bytes, number, &random)), 9)
        let ending = try await scanWaiting(reader, bad)
        endings[ending, default: 0] += 1
        if ending.hasPrefix("died") { try await reader.open() }
        if number.isMultiple(of: 8) {
          // A call waits until the cancelled one has ended.
          _ = try await reader.process.readers()
          try reader.storage.insert("a")
          let o = try await reader.identify("a", [good], nonce(2)).outcome;
          #expect(o == .match(good.id), "\(number) \(endings)")
        }
      }
      print("80 mutated templates (seed \(seed)): \(endings.sorted { $0.key < $1.key })")
    }
  }

  /// Starts a scan with the print, and cancels it once it waits for a finger.
  private func scanWaiting(_ reader: VirtualReader, _ print: EnrolledPrint) async throws -> String {
    let log = EventLog()
    let scan = Task { try await reader.process.verify(print, nonce: nonce(1), observer: log.observe) }
    let canceller = Task {
      while !log.events.contains(.fingerNeeded), !Task.isCancelled { try await Task.sleep(for: .milliseconds(1)) }
      scan.cancel()
    }
    defer { canceller.cancel() }
    switch await readerError({ try await scan.value }) {
    case .badTemplate: return "refused"
    case .cancelled: return "read"
    case .processDied(let how): return "died: \(how)"
    case let other:
      Issue.record("\(String(describing: other)) is no answer to a bad template")
      return "odd"
    }
  }

  private func mutation(of bytes: [UInt8], _ number: Int, _ random: inout SplitMix) -> [UInt8] {
    var bytes = bytes
    switch number % 5 {
    case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    case 1: bytes += (0..<Int.random(in: 1..<64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    case 2:
      // A GVariant has its framing offsets at the end.
      let start = bytes.count - 24
      for _ in 0..<4 {
        bytes[Int.random(in: start..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
    case 3: for index in 3..<bytes.count { bytes[index] = .random(in: 0...255, using: &random) }
    default:
      for _ in 0..<8 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
    return bytes
  }
}
