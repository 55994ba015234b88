internal import Glibc
package import Moving
internal import Primitives
internal import SecretModel
internal import SecureMemory

/// A folder of `pass`: a file encrypted by GnuPG for each entry, named for it. The first line is the password.
package struct PasswordStore: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry] = []
  package private(set) var leftOut: [String] = []
  private let folder: String
  private let gnupg: GnuPG
  /// The files of the entries, below the folder.
  private var files: [String] = []

  private static let suffix = ".gpg"
  /// The files of programs that keep such a folder and encrypt with age: gopass, passage.
  private static let otherSuffix = ".age"
  /// The deepest nesting of folders that is read.
  private static let deepest = 32
  /// The most entries that are read. Links to folders can repeat files.
  private static let most = 100_000

  /// Lists the entries. Decrypts none.
  ///
  /// - Parameter environment: of the user's own GnuPG, as `NAME=value`.
  package init(in folder: String, environment: [String]) throws(ImportError) {
    var status = stat()
    guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw .missing(folder) }
    self.folder = folder
    gnupg = try GnuPG(environment: environment)
    try list("", inside: [FileIdentity(status)])
  }

  /// Lists a folder, and the folders in it. Links are followed, as pass does.
  ///
  /// - Parameter inside: the folder and those that it is in, so that no link leads back to them.
  private mutating func list(_ below: String, inside: [FileIdentity]) throws(ImportError) {
    guard let names = Folder.nameBytes(in: below.isEmpty ? folder : "\(folder)/\(below)") else {
      let why = "cannot be read: \(String(cString: strerror(errno)))"
      return unusable.append(UnusableEntry(below.isEmpty ? folder : below, .source(why)))
    }
    for bytes in names where bytes.first != UInt8(ascii: ".") {
      let prefix = below.isEmpty ? "" : "\(below)/"
      guard let name = String(validating: bytes, as: UTF8.self) else {
        unusable.append(UnusableEntry(prefix + String(decoding: bytes, as: UTF8.self), .source("is not in UTF-8")))
        continue
      }
      let path = prefix + name
      var status = stat()
      guard stat("\(folder)/\(path)", &status) == 0 else {
        let isLink = errno == ENOENT || errno == ELOOP
        let why = isLink ? "is a link that leads nowhere" : "cannot be read: \(String(cString: strerror(errno)))"
        unusable.append(UnusableEntry(path, .source(why)))
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR where inside.contains(FileIdentity(status)):
        leftOut.append("the link '\(path)', which leads back to a folder that it is in")
      case S_IFDIR where inside.count > Self.deepest:
        unusable.append(UnusableEntry(path, .source("is in more than \(Self.deepest) folders")))
      case S_IFDIR: try list(path, inside: inside + [FileIdentity(status)])
      case S_IFREG where name.hasSuffix(Self.suffix): try add(path)
      case _ where name.hasSuffix(Self.suffix): unusable.append(UnusableEntry(path, .source("is not a file")))
      case _ where name.hasSuffix(Self.otherSuffix):
        unusable.append(UnusableEntry(path, .source("is encrypted with age, and only files of GnuPG are read")))
      default: break
      }
    }
  }

  private mutating func add(_ file: String) throws(ImportError) {
    guard files.count < Self.most else { throw .malformed("\(folder) has more than \(Self.most) entries") }
    let called = String(file.dropLast(Self.suffix.count))
    do throws(VaultError) {
      entries.append(ImportEntry(place: files.count, name: try ItemName(parsing: called)))
      files.append(file)
    } catch {
      unusable.append(UnusableEntry(called, .refused(error)))
    }
  }

  package func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem] {
    let text = try await gnupg.decrypted("\(folder)/\(files[entry.place])")
    var read = PasswordEntry(origin: files[entry.place])
    read.title = entry.name.description
    read.secrets = Self.parts(text)
    do throws(VaultError) {
      let items = try read.items(named: entry.name)
      guard !items.isEmpty else { throw VaultError.invalidRequest("") }
      return items
    } catch {
      throw .unreadable("has nothing in it")
    }
  }

  /// The first line as the password, and the rest as notes.
  static func parts(_ text: borrowing SecretBytes) -> [PasswordEntry.Secret] {
    text.withUnsafeBytes { bytes in
      let newline = UInt8(ascii: "\n")
      let first = bytes.prefix { $0 != newline }
      let blank = " \t\r\n".utf8
      let rest = bytes.dropFirst(first.count)
      let notes = (rest.firstIndex { !blank.contains($0) }).map { begin in
        rest[begin...(rest.lastIndex { !blank.contains($0) } ?? begin)]
      }
      func secret(_ label: String?, _ part: Slice<UnsafeRawBufferPointer>) -> PasswordEntry.Secret {
        let value = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: part))
        return PasswordEntry.Secret(label: label, value: SharedSecret(value))
      }
      let line = first.last == UInt8(ascii: "\r") ? first.dropLast() : first
      return [secret(nil, line)] + (notes.map { [secret("notes", $0)] } ?? [])
    }
  }
}

/// The same for all names of a file.
private struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }
}
