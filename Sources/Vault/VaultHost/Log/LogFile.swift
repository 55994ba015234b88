import Glibc
import Keys
internal import Primitives
import SecretModel
import Vault

/// The log of one store: entries in two files in its folder. When the newer file is full, the older one is deleted.
///
/// It is neither sealed nor synced: no decision depends on it, and a program that can write there can do worse.
struct LogFile {
  /// The most bytes of one of the two files.
  static let limit = 512 << 10

  private let database: String
  private let newer: String
  private let older: String
  private let limit: Int

  /// - Parameter folder: of the store.
  init(in folder: String, limit: Int = LogFile.limit) {
    database = Vault.database(in: folder)
    newer = folder + "/log"
    older = folder + "/log.old"
    self.limit = limit
  }

  /// The entries of both files, the oldest first. A file is read up to the first entry that cannot be decoded.
  func entries() -> [AuditEntry] { Self.entries(of: older) + Self.entries(of: newer) }

  /// Appends entries. Writes nothing if the store is gone or not made yet, or the disk is full.
  func append(_ entries: [AuditEntry]) {
    guard access(database, F_OK) == 0 else { return }
    var bytes: [UInt8] = []
    for entry in entries {
      let encoded = entry.encoded
      bytes += withUnsafeBytes(of: UInt32(encoded.count).bigEndian) { Array($0) } + encoded
    }
    var info = stat()
    if stat(newer, &info) == 0, Int(info.st_size) + bytes.count > limit { rename(newer, older) }
    let descriptor = open(newer, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // write: reads as many bytes as it is told
    guard fstat(descriptor, &info) == 0, write(descriptor, bytes, bytes.count) != bytes.count else { return }
    // A part of an entry would hide all entries after it.
    ftruncate(descriptor, info.st_size)
  }

  private static func entries(of path: String) -> [AuditEntry] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count <= 2 * Self.limit {
      let part = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
        // read: writes at most as many bytes as it is told
        count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
      }
      guard !part.isEmpty else { break }
      bytes += part
    }
    var entries: [AuditEntry] = []
    var rest = bytes[...]
    while rest.count >= 4 {
      let length = Int(rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      rest = rest.dropFirst(4)
      guard rest.count >= length, let entry = try? AuditEntry(encoded: Array(rest.prefix(length))) else { break }
      entries.append(entry)
      rest = rest.dropFirst(length)
    }
    return entries
  }
}

extension AuditEntry {
  /// A word that only another version of Whorl knows.
  private struct UnknownWord: Error {}

  private enum Tag: UInt8 {
    case number = 1
    case time, program, process, request, item, prompt, wrongPasscodes, unmatchedTouches, isSetChanged, outcome,
      omitted,
      behalf
  }

  fileprivate var encoded: [UInt8] {
    var encoding = CanonicalEncoding()
    func append(_ tag: Tag, _ number: Int) { encoding.append(tag: tag.rawValue, UInt64(clamping: number)) }
    append(.number, number)
    append(.time, Int(time))
    encoding.append(tag: Tag.program.rawValue, optional: program)
    encoding.append(tag: Tag.process.rawValue, optional: process.map { UInt64(clamping: $0) })
    encoding.append(tag: Tag.request.rawValue, request.rawValue)
    for item in items { encoding.append(tag: Tag.item.rawValue, item.bytes) }
    for prompt in prompts { encoding.append(tag: Tag.prompt.rawValue, prompt.rawValue) }
    append(.wrongPasscodes, wrongPasscodes)
    append(.unmatchedTouches, unmatchedTouches)
    append(.isSetChanged, isSetChanged ? 1 : 0)
    encoding.append(tag: Tag.outcome.rawValue, outcome.rawValue)
    append(.omitted, omitted)
    if let behalf { encoding.append(tag: Tag.behalf.rawValue, behalf) }
    return encoding.bytes
  }

  fileprivate init(encoded bytes: [UInt8]) throws {
    var decoder = CanonicalDecoder(bytes)
    func count(_ tag: Tag) throws -> Int { Int(clamping: try decoder.number(tag.rawValue)) }
    func word<Word: RawRepresentable<String>>(_ tag: Tag, _: Word.Type = Word.self) throws -> Word {
      guard let word = Word(rawValue: try decoder.string(tag.rawValue)) else { throw UnknownWord() }
      return word
    }
    let (number, time) = (try count(.number), Int64(try count(.time)))
    let program = try decoder.optionalString(Tag.program.rawValue)
    let process = try decoder.optionalNumber(Tag.process.rawValue).map { Int(clamping: $0) }
    let request = try word(.request, Request.self)
    var items: [ItemID] = []
    while decoder.nextTag == Tag.item.rawValue { items.append(ItemID(bytes: try decoder.bytes(Tag.item.rawValue))) }
    var prompts: [Prompt] = []
    while decoder.nextTag == Tag.prompt.rawValue { prompts.append(try word(.prompt)) }
    self.init(
      number: number, time: time, program: program, process: process, request: request, items: items,
      prompts: prompts, wrongPasscodes: try count(.wrongPasscodes),
      unmatchedTouches: try count(.unmatchedTouches),
      isSetChanged: try count(.isSetChanged) == 1,
      outcome: try word(.outcome), omitted: try count(.omitted))
    if !decoder.isAtEnd { behalf = try decoder.string(Tag.behalf.rawValue) }
  }
}
