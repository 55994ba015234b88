import CommandBase
import Glibc
import Moving
import Primitives
import Settings

/// A command or an answer between age and its plugin: words, and a body in base64 (C2SP age-plugin.md, "IPC protocol").
struct AgeStanza: Sendable {
  /// The kind, and what belongs to it. Never empty.
  var words: [String]
  /// The key of a file may be in it.
  var body: SharedSecret

  init(_ words: [String], _ body: SharedSecret) { (self.words, self.body) = (words, body) }

  /// With a text as its body.
  init(_ words: [String], text: String = "") {
    var bytes = SecretBytes(count: 0)
    bytes.append(text)
    self.init(words, SharedSecret(bytes))
  }
}

/// The conversation with age over standard input and output. Everything that age says has a limit.
struct AgeChannel {
  /// The longest first line of a stanza, in bytes. That of a recipient stanza for post-quantum keys has 1,500.
  static let lineLimit = 16 << 10
  /// The longest body, as base64 text in bytes.
  static let bodyLimit = 64 << 10
  /// What age may say in all, in bytes.
  static let limit = 4 << 20
  private static let columns = 64
  private static let mark = "-> "

  private var read = 0

  /// The next stanza; nil where age has closed its end.
  mutating func next() throws(Failure) -> AgeStanza? {
    guard let first = try line(Self.lineLimit) else { return nil }
    return AgeStanza(try Self.words(first.bytes), try body())
  }

  /// The next stanza of a phase that is not over.
  mutating func following() throws(Failure) -> AgeStanza {
    guard let stanza = try next() else { throw .brokenByAge("it has ended the conversation too early") }
    return stanza
  }

  /// Sends a command, and reads the answer to it.
  mutating func ask(_ command: AgeStanza) throws(Failure) -> AgeStanza {
    try send(command)
    return try following()
  }

  /// Sends a command whose answer says nothing.
  mutating func tell(_ command: AgeStanza) throws(Failure) { _ = try ask(command) }

  func send(_ stanza: AgeStanza) throws(Failure) {
    var text = SecretBytes(count: 0)
    text.append("\(Self.mark)\(stanza.words.joined(separator: " "))\n")
    Self.append(stanza.body.bytes, to: &text)
    try text.writeAnswer()
  }

  // MARK: Reading

  private static func words(_ line: borrowing SecretBytes) throws(Failure) -> [String] {
    let text: String? = line.withUnsafeBytes { bytes in
      bytes.allSatisfy { (0x20...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
    }
    guard let text, text.hasPrefix(mark) else { throw .brokenByAge("a line does not begin a stanza") }
    let words = text.dropFirst(mark.count).split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.allSatisfy({ !$0.isEmpty }) else { throw .brokenByAge("a stanza has an empty word") }
    return words
  }

  private mutating func body() throws(Failure) -> SharedSecret {
    var text = SecretBytes(count: 0)
    var isOver = false
    while !isOver {
      guard let part = try line(Self.columns) else { throw .brokenByAge("a stanza is cut off") }
      text.append(part.bytes)
      guard text.count <= Self.bodyLimit else { throw .brokenByAge("a stanza is too long") }
      // Only the last line of a body is shorter than the others.
      isOver = part.bytes.count < Self.columns
    }
    guard let bytes = Self.decoded(text) else { throw .brokenByAge("a stanza is not in base64") }
    return bytes
  }

  /// Nil for anything but the one text that encodes the bytes.
  private static func decoded(_ text: borrowing SecretBytes) -> SharedSecret? {
    var bytes = SecretBytes(count: text.count)
    let count: Int? = text.withUnsafeBytes { text in
      // The decoder also takes the other alphabet, and padding.
      guard !text.contains(where: { "-_=".utf8.contains($0) }) else { return nil }
      return bytes.withUnsafeMutableBytes { Base64URL.decode(text, into: $0) }
    }
    guard let count else { return nil }
    bytes.resize(to: count)
    return SharedSecret(bytes)
  }

  /// The next line; nil at the end of the input.
  private mutating func line(_ limit: Int) throws(Failure) -> SharedSecret? {
    do throws(ReadError) {
      let line = SharedSecret(try SecretBytes.readLine(from: STDIN_FILENO, limit: limit))
      read += line.bytes.count + 1
      guard read <= Self.limit else { throw ReadError.tooLong(limit: Self.limit) }
      return line
    } catch {
      switch error {
      case .endOfInput: return nil
      case .tooLong: throw .brokenByAge("it says too much")
      case .system(let code): throw .cannotRead("what age says from standard input", code)
      }
    }
  }

  // MARK: Writing

  private static func append(_ body: borrowing SecretBytes, to text: inout SecretBytes) {
    var encoded = SecretBytes(count: Base64.encodedCount(body.count))
    body.withUnsafeBytes { body in encoded.withUnsafeMutableBytes { Base64.encode(body, into: $0) } }
    encoded.resize(to: Base64URL.encodedCount(body.count))
    let count = encoded.count
    // The last line is shorter than the others, and may be empty.
    for start in stride(from: 0, through: count, by: columns) {
      encoded.withUnsafeBytes {
        text.append(UnsafeRawBufferPointer(rebasing: $0[start..<min(start + columns, count)]))
      }
      text.append("\n")
    }
  }
}

extension Failure {
  /// The program that runs the plugin does not keep to age's protocol.
  static func brokenByAge(_ why: String) -> Failure {
    Failure(
      .damaged, "the program that has started this does not speak age's plugin protocol: \(why)",
      advice: "let age, rage, sops or passage start age-plugin-whorl")
  }
}
