// Reads the secrets of other programs, to import them. Begin here: whatever the store, its entries become
// `PasswordEntry`s. `EntryFile` reads files (`CSV`, `KeePassXC`), `PasswordStore` pass, `SecretServiceStore` the Secret
// Service; each is an `ImportSource`.

internal import Primitives
internal import SecretModel

/// An entry as most password managers have it: a title, a user, a password, and more.
struct PasswordEntry: Sendable {
  /// One secret of an entry.
  struct Secret: Sendable {
    /// The name of the secret, such as `notes`; nil for the password.
    let label: String?
    let value: SharedSecret
  }

  /// Its position in the source, for people: "line 7".
  let origin: String
  var title = ""
  var user = ""
  /// Its address, or the first of several.
  var url = ""
  /// Its other addresses.
  var furtherURLs: [String] = []
  var folder = ""
  /// Further fields that are not secret, by their names.
  var fields: [String: String] = [:]
  /// The password first, if there is one.
  var secrets: [Secret] = []

  /// Adds the addresses in a field. Several programs write all addresses of an entry into one.
  mutating func add(addresses text: String) {
    var known = Set(furtherURLs)
    for address in EntryAddresses.split(text) where address != url && known.insert(address).inserted {
      if url.isEmpty { url = address } else { furtherURLs.append(address) }
    }
  }

  /// The entry's name for people.
  var called: String { title.isEmpty ? origin : title }

  /// The name of its item: the title, or without one the host of its address, and the user.
  var name: ItemName {
    get throws(VaultError) {
      let service = title.isEmpty ? host : title
      guard !service.isEmpty else { throw .invalidName("it has neither a title nor an address") }
      return try ItemName(parsing: user.isEmpty ? service : "\(service)/\(user)")
    }
  }

  private var addresses: [String] { ([url] + furtherURLs).filter { !$0.isEmpty } }

  private var host: String {
    // Only the part between the scheme and the path, without a user.
    let afterScheme = (addresses.first ?? "").split(separator: "://", maxSplits: 1).last ?? ""
    let authority = afterScheme.prefix { !"/?#".contains($0) }
    return String(authority.split(separator: "@").last ?? "")
  }

  /// The items that the entry becomes: its password under the entry's name, and each other secret under that name, `#`
  /// and its label, whether there is a password or not. The first has the entry's attributes.
  ///
  /// - Throws: what is wrong with a name.
  func items(named name: ItemName) throws(VaultError) -> [ImportedItem] {
    var items: [ImportedItem] = []
    for (called, secret) in try filled(name) {
      items.append(ImportedItem(called, items.isEmpty ? attributes : [:], secret: secret.bytes.copy()))
    }
    return items
  }

  /// The names of ``items(named:)``.
  func itemNames(named name: ItemName) throws(VaultError) -> [ItemName] { try filled(name).map(\.name) }

  /// The secrets that are not empty, with the names of their items.
  private func filled(_ name: ItemName) throws(VaultError) -> [(name: ItemName, secret: SharedSecret)] {
    var result: [(name: ItemName, secret: SharedSecret)] = []
    var numbers = LabelNumbers()
    var hasPassword = false
    for secret in secrets {
      // Empty ones count as well, so that the labels of the others do not depend on them.
      let label = secret.label ?? (hasPassword ? "password" : nil)
      hasPassword = hasPassword || label == nil
      let numbered = label.map { numbers.next($0) }
      guard !secret.value.bytes.isEmpty else { continue }
      result.append((try numbered.map { (label) throws(VaultError) in try name.beside(label) } ?? name, secret.value))
    }
    return result
  }

  private var attributes: [AttributeName: AttributeValue] {
    var texts = fields.map { (AttributeName(rawValue: "whorl.field.\($0.key)"), $0.value) }
    texts += [(.label, title), (.folder, folder)]
    texts += zip(1..., addresses).map { ($0 == 1 ? .url : .furtherURL($0), $1) }
    return Dictionary(
      texts.filter { !$0.1.isEmpty }.map { ($0.0, AttributeValue.text($0.1)) }, uniquingKeysWith: { first, _ in first })
  }
}

extension ItemName {
  /// The name of a further secret of the entry with this name.
  fileprivate func beside(_ label: String) throws(VaultError) -> ItemName {
    // A label is the name of a field, which may be of several lines.
    let words = label.split { $0.isNewline || String($0).hasControlCharacters }.joined(separator: " ")
    do throws(VaultError) {
      return try ItemName(parsing: "\(self)#\(words)")
    } catch {
      throw .invalidName("with its field '\(words.prefix(40))' it is longer than \(Self.limit) bytes")
    }
  }
}

extension AttributeName {
  /// The folder or group that an imported entry was in; Whorl's own.
  fileprivate static let folder = Self(rawValue: "whorl.folder")
}

/// Entries that were read together with their secrets, as those of a file are.
package struct ReadEntries: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry]
  package let leftOut: [String]
  private let read: [PasswordEntry]
  /// The items of entries whose names are taken by others of the file.
  private var taken: [Int: Set<ItemName>] = [:]

  /// - Parameters:
  ///   - unusable: the entries of the file that cannot be imported.
  ///   - leftOut: what is not imported of any entry.
  init(_ read: [PasswordEntry], unusable: [UnusableEntry] = [], leftOut: [String] = []) {
    (self.read, self.leftOut) = (read, leftOut)
    self.unusable = unusable
    var entryNames: Set<ItemName> = []
    var names: Set<ItemName> = []
    for (place, entry) in read.enumerated() {
      let items: [ItemName]
      do throws(VaultError) {
        items = try entry.itemNames(named: entry.name)
      } catch {
        self.unusable.append(UnusableEntry(entry.called, .refused(error)))
        continue
      }
      guard let first = items.first else {
        self.unusable.append(UnusableEntry(entry.called, .source("has no password and nothing else that is secret")))
        continue
      }
      // Two entries of one name are compared by the import itself, and so is an entry that the store has already.
      guard !entryNames.contains(first) else {
        entries.append(ImportEntry(place: place, name: first))
        continue
      }
      guard names.insert(first).inserted else {
        self.unusable.append(UnusableEntry(first.description, .source(Self.isTaken)))
        continue
      }
      entryNames.insert(first)
      entries.append(ImportEntry(place: place, name: first))
      for beside in items.dropFirst() where !names.insert(beside).inserted {
        self.unusable.append(UnusableEntry(beside.description, .source(Self.isTaken)))
        taken[place, default: []].insert(beside)
      }
    }
  }

  private static let isTaken = "has the name of another secret of the file: rename its entry there"

  package func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem] {
    do throws(VaultError) {
      let items = try read[entry.place].items(named: read[entry.place].name)
      return items.filter { taken[entry.place]?.contains($0.name) != true }
    } catch {
      throw .unreadable("has a name that no item can have")
    }
  }
}

/// Gives each label of an entry once: the second "pin" becomes "pin 2".
struct LabelNumbers: Sendable {
  private var counts: [String: Int] = [:]
  private var given: Set<String> = []

  /// The label, with the first number from 2 on that makes it a new one if it was given before.
  mutating func next(_ label: String) -> String {
    var number = counts[label, default: 0]
    var result: String
    repeat {
      number += 1
      result = number == 1 ? label : "\(label) \(number)"
    } while !given.insert(result).inserted
    counts[label] = number
    return result
  }
}

/// How another program has damaged a field, as the words after "its password".
enum FieldProblem {
  /// What a program may have done to a field before it came here.
  enum Suspicion {
    /// Nothing that is known.
    case ordinary
    /// It may have been taken from a web page, where `&amp;` stands for `&`.
    case webPage
  }

  /// What spreadsheets write for a value that they could not compute, such as a password that begins with "=". They are
  /// written in the language of the person.
  private static let spreadsheetErrors: Set<String> = [
    "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#N/A", "#NUM!", "#NULL!", "#ERROR!", "#SPILL!", "#CALC!", "#FIELD!",
    "#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#BUSY!", "#GETTING_DATA",
    // German, French, Spanish, Italian, Portuguese, Dutch.
    "#BEZUG!", "#WERT!", "#ZAHL!", "#NV", "#NOM?", "#VALEUR!", "#NOMBRE!", "#NUL!", "#¿NOMBRE?", "#¡VALOR!", "#¡REF!",
    "#¡DIV/0!", "#¡NUM!", "#¡NULO!", "#NOME?", "#VALORE!", "#RIF!", "#VALOR!", "#NULO!", "#NAAM?", "#WAARDE!", "#VERW!",
    "#GETAL!", "#LEEG!", "#N/B", "#N/D",
    // LibreOffice.
    "Err:501", "Err:502", "Err:503", "Err:504", "Err:508", "Err:509", "Err:510", "Err:511", "Err:512", "Err:519",
    "Err:520", "Err:522", "Err:523", "Err:524", "Err:525", "Err:532",
  ]

  /// What LastPass writes in place of a character.
  private static let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;", "&#039;", "&#x27;", "&#34;"]

  private static let reopened = "export it again without opening the file in one"

  /// Nil for a field that is usable as it is.
  static func find(in field: borrowing SecretBytes, _ suspicion: Suspicion) -> String? {
    field.withUnsafeBytes { bytes in
      if !isUTF8(bytes) { return "is not in UTF-8" }
      if bytes.contains("\u{FFFD}") {
        return "has U+FFFD in it, which a program writes in place of a character that it could not read"
      }
      if isReference(bytes) { return "refers to another entry: only KeePass's export as XML says what it stands for" }
      if suspicion == .webPage, entities.contains(where: { bytes.contains($0) }) {
        return "has a character written as in a web page, such as &amp; for &, which LastPass's exports do: write the "
          + "character itself in the file"
      }
      return spreadsheetProblem(bytes)
    }
  }

  /// Whether it contains a KeePass reference to another entry's field.
  static func isReference(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.contains("{REF:") || bytes.contains("{ref:")
  }

  static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Checks the bytes in place, since a string copy would not be wiped.
    bytes.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
  }

  // MARK: Spreadsheets

  private static func spreadsheetProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
    // A cell that is too narrow for its value is filled with number signs.
    if isErrorWord(bytes) || bytes.count >= 4 && bytes.allSatisfy({ $0 == UInt8(ascii: "#") }) {
      return "is what a spreadsheet writes in place of a value: \(reopened)"
    }
    if isShortenedNumber(bytes) { return "is a number that a spreadsheet has shortened: \(reopened)" }
    if bytes.count >= 3, bytes.starts(with: "=\"".utf8), bytes.last == UInt8(ascii: "\"") {
      return "is a formula of a spreadsheet: write what stands between its quotation marks in its place"
    }
    return nil
  }

  private static func isErrorWord(_ bytes: UnsafeRawBufferPointer) -> Bool {
    spreadsheetErrors.contains { bytes.elementsEqual($0.utf8) }
  }

  /// Whether it is like 1.23E+15, as spreadsheets show numbers of many digits.
  private static func isShortenedNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard (5...24).contains(bytes.count), let mark = bytes.firstIndex(of: UInt8(ascii: "E")) else { return false }
    func areDigits(_ part: Slice<UnsafeRawBufferPointer>) -> Bool { part.allSatisfy { (0x30...0x39).contains($0) } }
    let (number, power) = (bytes[..<mark], bytes[(mark + 1)...])
    guard let first = number.first, (0x31...0x39).contains(first), ".,".utf8.contains(number.dropFirst().first ?? 0x2E),
      number.count != 2, areDigits(number.dropFirst(2))
    else { return false }
    return "+-".utf8.contains(power.first ?? 0) && (2...3).contains(power.count - 1) && areDigits(power.dropFirst())
  }
}
