internal import Primitives

/// What a decrypted file of pass or gopass has in it.
///
/// A line of text is a password, and what follows are its notes. What is no such text is taken whole, byte for byte: a key,
/// a document, a file that somebody has put there.
struct PassContents {
  private(set) var secrets: [PasswordEntry.Secret] = []

  /// - Throws: `unreadable` for what cannot be told apart safely.
  init(_ text: borrowing SecretBytes) throws(ImportError) {
    secrets = try text.withUnsafeBytes { (bytes) throws(ImportError) in try Self.read(bytes) }
  }

  private typealias Part = Slice<UnsafeRawBufferPointer>

  private static func read(_ bytes: UnsafeRawBufferPointer) throws(ImportError) -> [PasswordEntry.Secret] {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw .unreadable("is in UTF-16: write it anew with 'pass edit', and import again")
    }
    let text = bytes.starts(with: FileText.utf8Mark) ? bytes.dropFirst(FileText.utf8Mark.count) : bytes[...]
    if let lines = try GopassMessage(text) { return lines.secrets }
    if let file = try GopassFile(text) { return file.secrets }
    if isDocument(text) { return [secret(nil, bytes[...])] }
    if bytes.contains(0) { return [secret(nil, bytes[...])] }
    guard FieldProblem.isUTF8(bytes) else {
      // Random bytes and pictures have control characters, texts of old systems have none.
      guard
        bytes.contains(where: { $0 < 0x20 && !"\t\r\n".utf8.contains($0) })
          || fileBeginnings.contains(where: { bytes.starts(with: $0) })
      else {
        throw .unreadable("is not in UTF-8: write it anew with 'pass edit', or store it with 'whorl set'")
      }
      return [secret(nil, bytes[...])]
    }
    return lines(text)
  }

  // MARK: Lines

  private static func lines(_ text: Part) -> [PasswordEntry.Secret] {
    let first = text.prefix { $0 != newline }
    let line = first.last == UInt8(ascii: "\r") ? first.dropLast() : first
    let rest = text[first.endIndex...].dropFirst()
    guard !isOneTimePassword(line) else { return notes(text) }
    return [secret(nil, line)] + notes(rest)
  }

  /// What follows the password: the addresses of one-time passwords, and the other lines as notes.
  static func notes(_ text: Slice<UnsafeRawBufferPointer>) -> [PasswordEntry.Secret] {
    var codes: [PasswordEntry.Secret] = []
    var kept = SecretBytes(count: text.count)
    var count = 0
    kept.withUnsafeMutableBytes { target in
      var rest = text
      while !rest.isEmpty {
        let end = rest.firstIndex(of: newline).map { $0 + 1 } ?? rest.endIndex
        let line = rest[..<end]
        rest = rest[end...]
        guard !isOneTimePassword(line) else {
          codes.append(secret("totp", trimmed(line)))
          continue
        }
        for byte in line {
          target[count] = byte
          count += 1
        }
      }
    }
    kept.resize(to: count)
    let notes = kept.withUnsafeBytes { bytes in
      // A key without its last line break is no key any more.
      let hasKey = UnsafeRawBufferPointer(rebasing: bytes[...]).contains("-----BEGIN ")
      let part = hasKey ? bytes.drop { blank.contains($0) } : trimmed(bytes[...])
      return part.isEmpty ? [] : [secret("notes", part)]
    }
    return notes + codes
  }

  private static func isOneTimePassword(_ line: Part) -> Bool { line.starts(with: "otpauth://".utf8) }

  // MARK: Documents

  /// Whether a text is a whole of which its first line is a part: a key, or a file of settings, and not a password with
  /// notes.
  private static func isDocument(_ text: Part) -> Bool {
    let shown = text[..<trimmed(text).endIndex]
    guard let end = shown.firstIndex(of: newline) else { return false }
    if documentBeginnings.contains(where: { shown.starts(with: $0.utf8) }) { return true }
    // A secret key, mostly of age, comes after comments.
    if shown.first == UInt8(ascii: "#") {
      let whole = UnsafeRawBufferPointer(rebasing: shown)
      if whole.contains("\nAGE-SECRET-KEY-") { return true }
      if shown.dropFirst().first == UInt8(ascii: " "), whole.contains("\n-----BEGIN ") { return true }
    }
    // A file may have neither a NUL nor a byte above 127. Nobody types a line with such characters, and more lines.
    let line = shown[..<end]
    if (line.last == UInt8(ascii: "\r") ? line.dropLast() : line).contains(where: isOfFile) { return true }
    switch (shown.first, shown.last) {
    // JSON.
    case (UInt8(ascii: "{")?, UInt8(ascii: "}")?): return true
    case (UInt8(ascii: "[")?, UInt8(ascii: "]")?): return true
    // Settings in sections.
    case (UInt8(ascii: "[")?, _):
      let line = trimmed(shown[..<end])
      return line.last == UInt8(ascii: "]") && line.dropFirst().dropLast().allSatisfy(isOfWord)
    default: return false
    }
  }

  private static let documentBeginnings = [
    "-----BEGIN ", "---- BEGIN SSH2 ", "PuTTY-User-Key-File-", "untrusted comment: ", "<?xml ", "#!/",
    "SSH PRIVATE KEY FILE FORMAT ", "BEGIN:VCARD", "BEGIN:VCALENDAR", "%PDF-",
    // What OpenSSL writes in front of a key of a PKCS #12 file.
    "Bag Attributes\n",
  ]

  /// Of files that are no text, and may have neither a NUL nor a control character if they are short: JPEG, DER, gzip.
  private static let fileBeginnings: [[UInt8]] = [[0xFF, 0xD8, 0xFF], [0x30, 0x82], [0x1F, 0x8B]]

  /// Whether it is a control character that no key of a keyboard writes into a line.
  private static func isOfFile(_ byte: UInt8) -> Bool {
    byte < 0x20 && byte != UInt8(ascii: "\t") && byte != 0x1B || byte == 0x7F
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) || (0x30...0x39).contains(byte)
      || " _-.:\"".utf8.contains(byte)
  }

  // MARK: Parts

  fileprivate static let newline = UInt8(ascii: "\n")
  fileprivate static let blank = " \t\r\n".utf8

  fileprivate static func trimmed(_ part: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    guard let last = part.lastIndex(where: { !blank.contains($0) }) else { return part.prefix(0) }
    return part[...last].drop { blank.contains($0) }
  }

  fileprivate static func secret(_ label: String?, _ part: Slice<UnsafeRawBufferPointer>) -> PasswordEntry.Secret {
    let value = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: part))
    return PasswordEntry.Secret(label: label, value: SharedSecret(value))
  }
}

/// A line "NAME: VALUE" in a file of gopass.
private struct GopassField {
  private let name: Slice<UnsafeRawBufferPointer>
  let value: Slice<UnsafeRawBufferPointer>

  /// Nil for a line without a name.
  init?(_ line: Slice<UnsafeRawBufferPointer>) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.startIndex < colon,
      line[..<colon].allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    name = line[..<colon]
    value = PassContents.trimmed(line[(colon + 1)...])
  }

  /// Whether it has this name, in any case. Compared in place: a line that only looks like a field may be secret.
  func isNamed(_ word: String) -> Bool { name.isWord(word) }

  /// The lines up to the first empty one, and what follows that.
  static func split(
    _ text: Slice<UnsafeRawBufferPointer>
  ) -> (lines: [Slice<UnsafeRawBufferPointer>], body: Slice<UnsafeRawBufferPointer>) {
    var lines: [Slice<UnsafeRawBufferPointer>] = []
    var rest = text
    while !rest.isEmpty {
      let whole = rest.prefix { $0 != PassContents.newline }
      let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
      rest = rest[whole.endIndex...].dropFirst()
      if line.isEmpty { break }
      lines.append(line)
    }
    return (lines, rest)
  }
}

/// A file in the form that gopass had from 1.10 to 1.11: a mark, fields of which one is the password, and a text.
private struct GopassMessage {
  let secrets: [PasswordEntry.Secret]

  /// Nil for a file in another form.
  init?(_ text: Slice<UnsafeRawBufferPointer>) throws(ImportError) {
    let mark = text.prefix { $0 != PassContents.newline }
    guard PassContents.trimmed(mark).elementsEqual("GOPASS-SECRET-1.0".utf8) else { return nil }
    let (lines, body) = GopassField.split(text[mark.endIndex...].dropFirst())
    var password: Slice<UnsafeRawBufferPointer>?
    var others: [Slice<UnsafeRawBufferPointer>] = []
    for (number, line) in lines.enumerated() {
      guard let field = GopassField(line) else {
        throw .unreadable(
          "is in the old form of gopass, and its line \(number + 2) is no field: 'gopass edit' shows it")
      }
      if field.isNamed("password"), password == nil { password = field.value } else { others.append(line) }
    }
    let ends = [PassContents.newline]
    var rest = SecretBytes(count: others.reduce(0) { $0 + $1.count + 1 } + body.count + 1)
    rest.withUnsafeMutableBytes { target in
      var count = 0
      for part in others {
        UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyBytes(from: part)
        count += part.count
        target[count] = ends[0]
        count += 1
      }
      // The empty line between the fields and the text.
      target[count] = ends[0]
      UnsafeMutableRawBufferPointer(rebasing: target[(count + 1)...]).copyBytes(from: body)
    }
    let notes = rest.withUnsafeBytes { PassContents.notes($0[...]) }
    secrets = (password.map { [PassContents.secret(nil, $0)] } ?? []) + notes
  }
}

/// A file that gopass keeps in base64: its content is the secret. A password and further fields beside it have their own
/// labels.
private struct GopassFile {
  private(set) var secrets: [PasswordEntry.Secret]

  /// Nil for an entry without a file.
  init?(_ text: Slice<UnsafeRawBufferPointer>) throws(ImportError) {
    let first = text.prefix { $0 != PassContents.newline }
    let (lines, body) = GopassField.split(text[first.endIndex...].dropFirst())
    var isEncoded = false
    var notes: [Slice<UnsafeRawBufferPointer>] = []
    for line in lines {
      switch GopassField(line) {
      case let field? where field.isNamed("content-transfer-encoding"):
        guard field.value.isWord("base64") else { return nil }
        isEncoded = true
      case let field? where field.isNamed("content-disposition"): break
      default: notes.append(line)
      }
    }
    guard isEncoded else { return nil }
    guard let content = Self.decoded(body) else {
      throw .unreadable("says that a file in base64 is in it, and that is not valid: 'gopass cat' on it says why")
    }
    secrets = [PasswordEntry.Secret(label: nil, value: content)]
    let password = PassContents.trimmed(first)
    if !password.isEmpty { secrets.append(PassContents.secret("password", password)) }
    secrets += notes.map { PassContents.secret("notes", $0) }
  }

  private static func decoded(_ text: Slice<UnsafeRawBufferPointer>) -> SharedSecret? {
    var packed = SecretBytes(count: text.count)
    var bytes = SecretBytes(count: text.count)
    let count = packed.withUnsafeMutableBytes { packed in
      var count = 0
      for byte in text where !PassContents.blank.contains(byte) {
        packed[count] = byte
        count += 1
      }
      let characters = UnsafeRawBufferPointer(rebasing: packed[..<count])
      return bytes.withUnsafeMutableBytes { Base64URL.decode(characters, into: $0) }
    }
    guard let count else { return nil }
    bytes.resize(to: count)
    return SharedSecret(bytes)
  }
}

extension Slice<UnsafeRawBufferPointer> {
  /// Whether it is this word of letters, digits and hyphens, in any case.
  fileprivate func isWord(_ word: String) -> Bool { elementsEqual(word.utf8) { $0 | 0x20 == $1 | 0x20 } }
}
