internal import Glibc
internal import SecretModel
internal import SecureMemory
package import Whorl

/// A folder of `pass`: a file encrypted by GnuPG for each entry, named for it. The first line is the password.
package struct PasswordStore: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry] = []
  private let folder: String
  private let gnupg: GnuPG
  /// The files of the entries, below the folder.
  private var files: [String] = []

  private static let suffix = ".gpg"
  /// The deepest nesting of folders that is read.
  private static let deepest = 32

  /// Lists the entries. Decrypts none.
  ///
  /// - Parameter environment: of the user's own GnuPG, as `NAME=value`.
  package init(in folder: String, environment: [String]) throws(ImportError) {
    var status = stat()
    guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw .missing(folder) }
    self.folder = folder
    gnupg = try GnuPG(environment: environment)
    list("", depth: 0)
  }

  private mutating func list(_ below: String, depth: Int) {
    for bytes in Self.names(in: below.isEmpty ? folder : "\(folder)/\(below)") where bytes.first != UInt8(ascii: ".") {
      let prefix = below.isEmpty ? "" : "\(below)/"
      guard let name = String(validating: bytes, as: UTF8.self) else {
        unusable.append(UnusableEntry(prefix + String(decoding: bytes, as: UTF8.self), .source("is not in UTF-8")))
        continue
      }
      var status = stat()
      guard lstat("\(folder)/\(prefix)\(name)", &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR, depth < Self.deepest {
        list(prefix + name, depth: depth + 1)
      } else if name.hasSuffix(Self.suffix) {
        add(prefix + name)
      }
    }
  }

  private mutating func add(_ file: String) {
    let called = String(file.dropLast(Self.suffix.count))
    do throws(VaultError) {
      entries.append(ImportEntry(place: files.count, name: try ItemName(parsing: called)))
      files.append(file)
    } catch {
      unusable.append(UnusableEntry(called, .refused(error)))
    }
  }

  /// The names in a folder, in order; none where it cannot be read.
  private static func names(in folder: String) -> [[UInt8]] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    // The entry belongs to the stream until the next call.
    while let entry = readdir(stream) {
      names.append(withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) })
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
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

  /// The first line as the password, and what follows it as notes.
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
