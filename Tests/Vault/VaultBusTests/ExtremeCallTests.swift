import Primitives
import ReaderBus
import SDBus
import SecretModel
import Testing
import VaultBus
import VaultDriver

@Suite("Extreme numbers", .timeLimit(.minutes(120)))
struct ExtremeCallTests {
  @Test("a vault answers calls with the extremes of each integer in each argument, with a store and without")
  func calls() async {
    // In a new process, since a trap ends it.
    await onOwnThread {
      await #expect(processExitsWith: .success) { [seed = Campaign.seed as UInt64] in
        try await callWithExtremes(seed: seed)
      }
    }
  }

  @Test("a reader's numbers outside their range are refused, and not used for arithmetic")
  func reader() {
    for number in [UInt32.max, 0x8000_0000, 1_001] {
      let stage: [BusValue] = [.uint64(1), .string("stage"), .uint32(1), .uint32(number), .string("")]
      #expect(ScanEvent.reading(stage) == nil)
      let picture: [BusValue] = [
        .string(""),
        .dictionary([
          "width": .uint32(65_536), "height": .uint32(number), "minutiae": .uint32(1), "contrast": .uint32(1),
        ]),
      ]
      #expect(ReaderAnswer(to: .capture(includingImage: false), picture) == nil)
    }
  }
}

private func callWithExtremes(seed: UInt64) async throws {
  let recorded = try await RecordedCalls()
  let scratch = try await ScratchConnection()
  var count = 0
  for isOpen in [true, false] {
    var client = try await RawClient.greeted(scratch, isOpen: isOpen)
    func call(_ member: String, _ arguments: [BusValue]) async throws {
      let (_, failure) = await client.outcome(member, arguments, patience: .milliseconds(50))
      count += 1
      switch failure {
      case nil: break
      case .remote(let name, _, _)?:
        let isKnown = name.hasPrefix(VaultInterface.errorPrefix) || name.hasPrefix("org.freedesktop.DBus.Error.")
        #expect(isKnown, "\(member) \(arguments)")
      case let other?:
        // A call that breaks the protocol ends its connection, and nothing else.
        try #require(try await client.isOver(), "\(member) \(arguments): \(other)")
        client = try await RawClient.greeted(scratch, isOpen: isOpen)
      }
    }
    for (member, arguments) in recorded.all {
      for (place, argument) in arguments.enumerated() {
        for extreme in argument.withExtremes {
          var changed = arguments
          changed[place] = extreme
          try await call(member, changed)
        }
      }
    }
    // Several of them in one call.
    var random = Campaign.Generator("extreme calls \(isOpen)", seed: seed)
    for _ in 1...Campaign.count(short: 100, long: 50_000) {
      guard let (member, arguments) = recorded.all.randomElement(using: &random) else { continue }
      var changed = arguments
      for place in changed.indices {
        for _ in 0..<Int.random(in: 0...3, using: &random) {
          changed[place] = changed[place].withExtremes.randomElement(using: &random) ?? changed[place]
        }
      }
      try await call(member, changed)
    }
    // The numbers of the calls themselves, and of the interface.
    for number in [0, 1 << 63, UInt64.max] {
      _ = try? await client.call("Status", number: number)
      _ = try? await client.call("Cancel", number: number)
    }
    client.connection.close()
  }
  for minor in [UInt32.max, 1 << 31] {
    let client = try RawClient(to: scratch)
    _ = try? await client.call("Hello", [.uint32(minor), .array(of: "s", [])])
    client.connection.close()
  }
  #expect(count > 700)
  let vault = try await Way.overSocket.connect(to: scratch).open(scratch.place)
  _ = try await vault.status()
}

extension RawClient {
  /// - Parameter isOpen: whether it has opened the store.
  fileprivate static func greeted(_ scratch: ScratchConnection, isOpen: Bool) async throws -> RawClient {
    let client = try RawClient(to: scratch)
    if isOpen {
      try await client.open(scratch.store.path)
    } else {
      try await client.call("Hello", [.uint32(0), .array(of: "s", [])])
    }
    return client
  }
}

extension BusValue {
  /// The value with each integer in it, one at a time, replaced by each extreme of its type.
  fileprivate var withExtremes: [BusValue] {
    switch self {
    case .byte: [.byte(0), .byte(.max)]
    case .uint16: [.uint16(0), .uint16(.max)]
    case .int32: ([0, -1, .min, .max] as [Int32]).map { .int32($0) }
    case .uint32: ([0, 1 << 31, .max] as [UInt32]).map { .uint32($0) }
    case .int64:
      ([0, -1, .min, .min + 1, .max, .max - 1, 1 << 53, -(1 << 53), 1 << 31, 1 << 32] as [Int64]).map { .int64($0) }
    case .uint64: ([0, 1 << 53, 1 << 63, .max] as [UInt64]).map { .uint64($0) }
    case .double:
      [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -1, 9.3e18].map { .double($0) }
    // Packed numbers and lengths.
    case .bytes(let bytes):
      [0, 0x7F, 0x80, 0xFF].flatMap { byte in
        stride(from: 0, to: bytes.count, by: 4).map { place in
          .bytes(bytes.enumerated().map { (place..<place + 4).contains($0.offset) ? byte : $0.element })
        }
      }
    case .array(let element, let values): values.replacements.map { .array(of: element, $0) }
    case .structure(let values): values.replacements.map { .structure($0) }
    case .dictionary(let entries):
      entries.flatMap { key, value in
        value.withExtremes.map { .dictionary(entries.merging([key: $0]) { $1 }) }
      }
    case .variant(let value): value.withExtremes.map { .variant($0) }
    default: []
    }
  }
}

extension [BusValue] {
  fileprivate var replacements: [[BusValue]] {
    indices.flatMap { place in
      self[place].withExtremes.map { value in
        var copy = self
        copy[place] = value
        return copy
      }
    }
  }
}
