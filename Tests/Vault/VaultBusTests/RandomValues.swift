import CLinux
import Glibc
import Primitives
import SDBus
import VaultDriver

/// Changes the values of messages in random places.
struct RandomValues {
  var random: Campaign.Generator
  /// Keys of the dictionaries that were recorded.
  private let words: [String]
  /// Handles and identifiers that were seen, so that they are used again.
  private var identifiers: [[UInt8]]

  /// - Parameters:
  ///   - recorded: values as they were sent, whose dictionaries provide keys.
  ///   - identifier: the first identifier to use.
  init(_ random: Campaign.Generator, recorded: [BusValue], identifier: [UInt8]) {
    self.random = random
    // Sorted, so that a seed always gives the same values.
    words = Set(recorded.flatMap(\.keys)).sorted()
    identifiers = [identifier]
  }

  mutating func learn(from values: [BusValue]) {
    for value in values { learn(from: value) }
  }

  private mutating func learn(from value: BusValue) {
    switch value {
    case .bytes(let bytes) where (1...64).contains(bytes.count):
      identifiers.append(bytes)
      if identifiers.count > 64 { identifiers.remove(at: Int.random(in: 0..<64, using: &random)) }
    case .array(_, let values), .structure(let values): learn(from: values)
    case .variant(let value): learn(from: value)
    default: break
    }
  }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  /// True once in this many calls, on average.
  mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// The value with a change in one random place. Its type is the same, except within variants.
  mutating func changed(_ value: BusValue) -> BusValue {
    switch value {
    case .boolean(let value): return .boolean(!value)
    case .byte: return .byte(.random(in: 0...255, using: &random))
    case .uint16: return .uint16(pick([0, 1, .max]))
    case .int32: return .int32(pick([0, 1, -1, .min, .max]))
    case .uint32: return .uint32(pick([0, 1, .max]))
    case .int64: return .int64(pick([0, 1, -1, .min, .max]))
    case .uint64(let value):
      return .uint64(pick([0, 1, .max, value ^ (UInt64(1) << UInt64.random(in: 0..<64, using: &random))]))
    case .double: return .double(pick([0, -1, .infinity, .nan]))
    case .string(let text):
      return .string(pick(["", text + text, "\u{1B}[2J\n", String(repeating: "é", count: 70_000)]))
    case .objectPath: return .objectPath("/")
    case .bytes(let bytes): return .bytes(changed(bytes))
    // No interface of the vault has these.
    case .secret, .entry: return value
    case .array(let element, let values): return .array(of: element, changed(values))
    case .structure(let members):
      guard let place = members.indices.randomElement(using: &random) else { return value }
      var members = members
      members[place] = changed(members[place])
      return .structure(members)
    case .dictionary(let entries): return .dictionary(changed(entries))
    case .texts(let entries): return .texts(entries.mapValues { $0 + $0 })
    case .variant(let value): return .variant(changed(value))
    case .descriptor: return .descriptor(descriptor())
    }
  }

  private mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    switch number(0...4) {
    case 0: return pick(identifiers)
    case 1: return []
    case 2: return Array(bytes.dropLast())
    case 3: return bytes + Array(repeating: 65, count: pick([1, 300, 100_000]))
    default:
      guard let place = bytes.indices.randomElement(using: &random) else { return [0] }
      bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      return bytes
    }
  }

  private mutating func changed(_ values: [BusValue]) -> [BusValue] {
    guard let place = values.indices.randomElement(using: &random) else { return values }
    var values = values
    switch number(0...3) {
    case 0: values.remove(at: place)
    case 1: values.append(values[place])
    // Few copies: the bus refuses messages with too many descriptors.
    case 2: values += Array(repeating: values[place], count: pick([2, 50]))
    default: values[place] = changed(values[place])
    }
    return values
  }

  private mutating func changed(_ entries: [String: BusValue]) -> [String: BusValue] {
    var entries = entries
    // Sorted, so that a seed always gives the same values.
    guard let key = entries.keys.sorted().randomElement(using: &random) else { return [word(): leaf()] }
    switch number(0...4) {
    case 0: entries[key] = nil
    case 1: entries[key] = leaf()
    case 2: entries[word()] = leaf()
    case 3: entries[word()] = entries[key]
    default: entries[key] = entries[key].map { changed($0) }
    }
    return entries
  }

  /// A key of the dictionaries that were recorded.
  private mutating func word() -> String { words.randomElement(using: &random) ?? "" }

  mutating func leaf() -> BusValue {
    switch number(0...8) {
    case 0: .boolean(true)
    case 1: .uint32(.max)
    case 2: .int64(.min)
    case 3: .uint64(.max)
    case 4: .string(word())
    case 5: .bytes(pick(identifiers))
    case 6: .array(of: "s", [.string(word())])
    case 7: .dictionary([word(): .variant(.string(""))])
    default: .structure([.bytes([]), .boolean(false)])
    }
  }

  mutating func descriptor() -> BusDescriptor {
    let file =
      switch number(0...3) {
      case 0: open("/dev/zero", O_RDONLY | O_CLOEXEC)
      case 1: whorl_memory_file("test")
      case 2: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      default: sealedFile(count: pick([1, 4_096]))
      }
    return BusDescriptor(taking: file)
  }

  /// Owned by the caller; -1 where it cannot be made.
  private func sealedFile(count: Int) -> Int32 {
    guard let file = try? SealedFile.make(of: SecretBytes(count: count)) else { return -1 }
    return fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
  }
}

extension BusValue {
  /// The keys of its dictionaries.
  fileprivate var keys: [String] {
    switch self {
    case .dictionary(let entries): entries.keys + entries.values.flatMap(\.keys)
    case .array(_, let values), .structure(let values): values.flatMap(\.keys)
    case .variant(let value): value.keys
    default: []
    }
  }
}
