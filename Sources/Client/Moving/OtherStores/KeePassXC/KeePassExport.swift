internal import CExpat
internal import Glibc
internal import Primitives
internal import Prompts
internal import SecretModel

/// Reads the XML that KeePassXC and KeePass 2 export: entries of strings in groups of groups.
final class KeePassExport {
  private let parser: XML_Parser
  private var path: [String] = []
  /// The groups around this place. The path of the outermost one, which stands for the whole file, is empty.
  private var groups: [(path: String, isBin: Bool)] = []
  private var bin = ""
  /// The text of the element that is being read.
  private var text = SecretBytes(count: 0)
  private var entry: PasswordEntry?
  /// The entries by identifier, including those in the recycle bin.
  private var references = KeePassReferences()
  private var identifier = ""
  private var hasEarlierState = false
  private var hasAttachments = false
  /// The number of entries with earlier versions.
  private var changedEntries = 0
  private var key = ""
  private var value: SharedSecret?
  private var protection = Protection.none
  private var entries: [PasswordEntry] = []
  private var unusable: [UnusableEntry] = []
  private var problem: String?

  /// How the export marks a value.
  private enum Protection {
    case none
    /// KeePass kept it encrypted in memory; the export contains it unencrypted.
    case inMemory
    /// The export contains it encrypted.
    case encrypted
  }

  private var hasGroupNotes = false

  /// The deepest nesting of elements that is read.
  private static let deepest = 64
  /// The most entries of a file, the most fields of an entry, and the longest path of a group in bytes, that are read.
  private static let mostEntries = 100_000
  private static let mostFields = 1_000
  private static let longestPath = 4_096
  /// The labels of an entry's own notes and one-time passwords.
  private static let labels = ["notes", "totp"]

  /// - Parameter isUTF8: whether the text is UTF-8, whatever its XML declaration says.
  static func read(_ bytes: borrowing SecretBytes, isUTF8: Bool = false) throws(ImportError) -> ReadEntries {
    var suite = WipingMemory.suite
    // Returns a parser owned by the caller; it copies the suite and the encoding.
    guard let parser = XML_ParserCreate_MM(isUTF8 ? "UTF-8" : nil, &suite, nil) else {
      throw .system("the XML parser: out of memory")
    }
    defer { XML_ParserFree(parser) }
    let export = KeePassExport(parser)
    // The parser borrows the object for as long as it parses.
    XML_SetUserData(parser, Unmanaged.passUnretained(export).toOpaque())
    XML_SetElementHandler(parser, elementStarted, elementEnded)
    XML_SetCharacterDataHandler(parser, charactersRead)
    XML_SetStartDoctypeDeclHandler(parser, documentTypeDeclared)
    let status = bytes.withUnsafeBytes {
      // Borrows the bytes for the call.
      XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), 1)
    }
    let read = try withExtendedLifetime(export) { () throws(ImportError) in
      guard status == XML_STATUS_OK else {
        // XML_ErrorString: the words are the library's (transfer none)
        let words = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
        throw .malformed("line \(whorl_expat_line(parser)): \(export.problem ?? words ?? "it is no XML")")
      }
      return export.result
    }
    guard !(read.entries.isEmpty && read.unusable.isEmpty) else { throw .malformed("there is no entry in it") }
    return read
  }

  private init(_ parser: XML_Parser) { self.parser = parser }

  private var result: ReadEntries {
    var (whole, unusable) = ([PasswordEntry](), unusable)
    for entry in entries {
      switch references.resolved(entry) {
      case .success(let entry): whole.append(KeePassSeeds.settled(entry))
      case .failure(let problem):
        unusable.append(UnusableEntry(entry.called, .field(problem.field, problem.why)))
      }
    }
    if hasGroupNotes {
      unusable.append(UnusableEntry("notes of groups", .source("belong to no entry: copy them by hand")))
    }
    var leftOut = ["of every entry, its icon, its times and how KeePass types it"]
    if changedEntries > 0 {
      leftOut.append("the earlier states of \(Spoken.plural(changedEntries, "entry", "entries"))")
    }
    return ReadEntries(whole, unusable: unusable, leftOut: leftOut)
  }

  private func stop(_ problem: String) {
    self.problem = self.problem ?? problem
    XML_StopParser(parser, XML_FALSE)
  }

  // MARK: Called by the parser

  fileprivate func documentType() { stop("it declares a document type, which no export does") }

  fileprivate func started(_ element: String, _ attributes: [String: String]) {
    path.append(element)
    if path.count == 1, element != "KeePassFile" {
      return stop("it is no export of KeePassXC: it begins with \(element)")
    }
    guard path.count <= Self.deepest else { return stop("its elements are nested too deep") }
    text.resize(to: 0)
    guard !isHistory else {
      if element == "Entry" { hasEarlierState = true }
      return
    }
    switch element {
    case "Group": groups.append(("", false))
    case "Entry":
      var new = PasswordEntry(origin: "the entry on line \(whorl_expat_line(parser))")
      new.folder = groups.last?.path ?? ""
      entry = new
      identifier = ""
    case "String": (key, value, protection) = ("", nil, .none)
    case "Value":
      if attributes["Protected"] == "True" {
        protection = .encrypted
      } else if attributes["ProtectInMemory"] == "True" {
        protection = .inMemory
      }
    default: break
    }
  }

  fileprivate func read(_ characters: UnsafeRawBufferPointer) {
    guard isKept else { return }
    let count = text.count
    text.resize(to: count + characters.count)
    text.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[count...]).copyMemory(from: characters) }
  }

  fileprivate func ended(_ element: String) {
    // The parser may still report the end of an element after it was stopped.
    guard problem == nil else { return }
    let isOld = isHistory
    path.removeLast()
    if isOld, !isHistory, element == "History", hasEarlierState {
      changedEntries += 1
      hasEarlierState = false
    }
    guard !isOld else { return }
    switch (element, path.last) {
    case ("RecycleBinUUID", "Meta"?): bin = plainText
    case ("UUID", "Group"?): groups[groups.count - 1].isBin = !bin.isEmpty && plainText == bin
    case ("Name", "Group"?) where groups.count > 1:
      let above = groups[groups.count - 2].path
      // Each entry of the group keeps it.
      guard above.utf8.count + text.count < Self.longestPath else {
        return stop("the names of groups within each other have more than \(Self.longestPath) bytes")
      }
      groups[groups.count - 1].path = above.isEmpty ? plainText : "\(above)/\(plainText)"
    case ("Notes", "Group"?): if !text.isEmpty { hasGroupNotes = true }
    case ("UUID", "Entry"?): identifier = plainText
    case ("Tags", "Entry"?): if !plainText.isEmpty { entry?.fields["Tags"] = plainText }
    case ("Group", _): groups.removeLast()
    case ("Key", "String"?): key = plainText
    case ("Value", "String"?): value = SharedSecret(text.copy())
    case ("String", "Entry"?): addString()
    case ("Binary", "Entry"?): hasAttachments = true
    case ("Entry", "Group"?): addEntry()
    default: break
    }
    text.resize(to: 0)
  }

  /// Whether this belongs to an earlier version of an entry.
  private var isHistory: Bool { path.contains("History") }

  /// Whether the text of this element is wanted.
  private var isKept: Bool {
    guard !isHistory, path.count > 1 else { return false }
    return switch path[path.count - 1] {
    // Not those of attached files, which can be large.
    case "Key", "Value": path[path.count - 2] == "String"
    case "Notes": path[path.count - 2] == "Group"
    case "Name", "UUID", "RecycleBinUUID", "Tags": true
    default: false
    }
  }

  private var plainText: String { text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

  private func addString() {
    guard let value else { return }
    guard protection != .encrypted else { return stop("its values are encrypted: export it from KeePassXC itself") }
    guard entry.map({ $0.secrets.count + $0.fields.count + $0.furtherURLs.count }) ?? 0 < Self.mostFields else {
      return stop("an entry has more than \(Self.mostFields) fields")
    }
    var text: String { value.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    func addSecret(_ label: String?) {
      let secret = PasswordEntry.Secret(label: label, value: value)
      if label == nil { entry?.secrets.insert(secret, at: 0) } else { entry?.secrets.append(secret) }
    }
    switch key {
    case "Password": addSecret(nil)
    case "Notes": addSecret("notes")
    case "otp": addSecret("totp")
    case "Title": entry?.title = text
    case "UserName": entry?.user = text
    case "URL": entry?.url = text
    // Those that KeePassXC's extension for browsers uses as well; without a number if there is one.
    case _ where Self.isAddress(key) && protection == .none: entry?.furtherURLs.append(text)
    // The name of an entry's own notes is theirs, also where they are empty or missing.
    case _ where Self.labels.contains(key): addSecret("\(key) 2")
    case _ where protection == .inMemory || Self.isSecret(key) || entry?.fields[key] != nil: addSecret(key)
    default: entry?.fields[key] = text
    }
  }

  /// Whether a field has the secret of one-time passwords or a passkey, which KeePass does not always mark as secret.
  private static func isSecret(_ key: String) -> Bool {
    ["TOTP Seed", "TimeOtp-Secret", "HmacOtp-Secret", "KPEX_PASSKEY_PRIVATE_KEY"].contains { key.hasPrefix($0) }
  }

  private static func isAddress(_ key: String) -> Bool { key == "KP2A_URL" || key.hasPrefix("KP2A_URL_") }

  private func addEntry() {
    guard let entry else { return }
    guard entries.count + unusable.count < Self.mostEntries else {
      return stop("it has more than \(Self.mostEntries) entries: export its groups one after the other")
    }
    references.add(entry, identifier)
    if groups.contains(where: \.isBin) {
      unusable.append(UnusableEntry(entry.called, .source("is in the recycle bin")))
    } else {
      entries.append(entry)
      if hasAttachments {
        unusable.append(UnusableEntry(entry.called, .source("has attachments, which stay behind")))
      }
    }
    self.entry = nil
    hasAttachments = false
  }
}

// The handlers of the parser: C functions, to which it lends its strings for the call.

private func export(_ pointer: UnsafeMutableRawPointer?) -> KeePassExport? {
  pointer.map { Unmanaged<KeePassExport>.fromOpaque($0).takeUnretainedValue() }
}

private func elementStarted(
  _ data: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?,
  _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) {
  guard let name else { return }
  var named: [String: String] = [:]
  // Names and values in turn, with a null at the end.
  var next = attributes
  while let pair = next, let key = pair[0], let value = pair[1] {
    named[String(cString: key)] = String(cString: value)
    next = pair + 2
  }
  export(data)?.started(String(cString: name), named)
}

private func elementEnded(_ data: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?) {
  guard let name else { return }
  export(data)?.ended(String(cString: name))
}

private func charactersRead(_ data: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ count: Int32) {
  export(data)?.read(UnsafeRawBufferPointer(start: text, count: Int(count)))
}

private func documentTypeDeclared(
  _ data: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?, _ system: UnsafePointer<CChar>?,
  _ publicName: UnsafePointer<CChar>?, _ hasSubset: Int32
) {
  export(data)?.documentType()
}

/// Memory for the XML parser, which copies parts of its input. It is wiped before it is freed, but not locked.
///
/// C callbacks are functions, so none of them belongs to an actor.
enum WipingMemory {
  static var suite: XML_Memory_Handling_Suite {
    XML_Memory_Handling_Suite(malloc_fcn: allocate, realloc_fcn: reallocate, free_fcn: release)
  }
}

// Gives the caller memory to be freed by `release` alone.
private func allocate(_ size: Int) -> UnsafeMutableRawPointer? { malloc(size) }

// Frees the old memory if it returns new memory.
private func reallocate(_ old: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
  // realloc itself may move the block and leave the old one as it was.
  guard let new = malloc(size) else { return nil }
  if let old {
    memcpy(new, old, min(malloc_usable_size(old), size))
    release(old)
  }
  return new
}

private func release(_ memory: UnsafeMutableRawPointer?) {
  guard let memory else { return }
  explicit_bzero(memory, malloc_usable_size(memory))
  free(memory)
}
