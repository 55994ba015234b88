internal import FoundationEssentials
internal import Primitives
internal import SecretModel

/// The export of Aegis, an authenticator of phones, as JSON that is not encrypted. Each entry becomes an `otpauth://`
/// address, beside the password of the same issuer and name if there is one.
enum AegisExport {
  /// The most entries that are read.
  private static let mostEntries = 100_000

  static func read(_ text: SharedSecret) throws(ImportError) -> ReadEntries {
    let open = OpenText(text, open: ["type", "name", "issuer", "algo"])
    let export: Export
    do {
      export = try JSONDecoder().decode(Export.self, from: Data(open.bytes))
    } catch {
      throw .malformed("it is no export of Aegis as JSON")
    }
    guard let entries = export.entries else {
      throw .malformed("it is an encrypted export of Aegis: export it there again, without encryption")
    }
    guard entries.count <= mostEntries else { throw .malformed("it has more than \(mostEntries) entries") }
    var read: [PasswordEntry] = []
    var unusable: [UnusableEntry] = []
    for (place, entry) in entries.enumerated() {
      var new = PasswordEntry(origin: "entry \(place + 1)")
      let (issuer, name) = (entry.issuer ?? "", entry.name ?? "")
      (new.title, new.user) = issuer.isEmpty ? (name, "") : (issuer, name)
      do throws(Unusable) {
        new.secrets.append(PasswordEntry.Secret(label: "totp", value: try address(of: entry, in: open)))
        if let note = entry.note.flatMap({ open.secret($0) }), !note.bytes.isEmpty {
          new.secrets.append(PasswordEntry.Secret(label: "notes", value: note))
        }
        read.append(new)
      } catch {
        unusable.append(UnusableEntry(new.called, .source(error.words)))
      }
    }
    guard !(read.isEmpty && unusable.isEmpty) else { throw .malformed("there is no entry in it") }
    return ReadEntries(
      read, unusable: unusable, leftOut: ["of every entry, its icon, its groups and how often it was used"])
  }

  /// The words say why, to follow the name of the entry.
  private struct Unusable: Error { let words: String }

  private static func address(of entry: Entry, in open: OpenText) throws(Unusable) -> SharedSecret {
    guard entry.type == "totp" else {
      throw Unusable(
        words: entry.type == "hotp"
          ? "counts its uses (HOTP), of which no codes can be made here" : "is not for codes of the time (TOTP)")
    }
    guard let algorithm = entry.info.algo, ["SHA1", "SHA256", "SHA512"].contains(algorithm),
      let digits = entry.info.digits, OneTimeCode.lengths.contains(digits),
      let period = entry.info.period, OneTimeCode.periods.contains(period),
      let seed = open.secret(entry.info.secret), !seed.bytes.isEmpty
    else { throw Unusable(words: "is for codes of a kind that cannot be made here") }
    return SharedSecret(
      SecretBytes(
        joining: Array("otpauth://totp/?secret=".utf8), seed.bytes,
        Array("&algorithm=\(algorithm)&digits=\(digits)&period=\(period)".utf8)))
  }

  // MARK: The file

  private struct Export: Decodable {
    /// Nil if they are encrypted.
    let entries: [Entry]?

    private enum Key: CodingKey { case db, entries }

    init(from decoder: any Decoder) throws {
      let whole = try decoder.container(keyedBy: Key.self)
      // An encrypted database is a string of base64.
      guard (try? whole.decode(String.self, forKey: .db)) == nil else {
        entries = nil
        return
      }
      entries = try whole.nestedContainer(keyedBy: Key.self, forKey: .db).decode([Entry].self, forKey: .entries)
    }
  }

  private struct Entry: Decodable {
    struct Info: Decodable {
      let secret: OpenText.Mark
      let algo: String?
      let digits: Int?
      let period: Int?
    }

    let type: String
    let name: String?
    let issuer: String?
    let note: OpenText.Mark?
    let info: Info
  }
}
