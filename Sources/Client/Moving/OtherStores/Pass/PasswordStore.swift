internal import Glibc
internal import Primitives
internal import Prompts
internal import SecretModel

/// A folder of `pass`: a file encrypted by GnuPG for each entry, named for it. The first line is the password.
package struct PasswordStore: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry] = []
  package private(set) var leftOut: [String] = []
  private let folder: String
  private let gnupg: GnuPG
  /// The files of the entries, below the folder.
  private var files: [String] = []

  /// The files of programs that keep such a folder and encrypt with age: gopass, passage.
  private static let otherSuffix = ".age"

  /// Lists the entries. Decrypts none.
  ///
  /// - Parameter environment: of the user's own GnuPG, as `NAME=value`.
  package init(in folder: String, environment: [String]) throws(ImportError) {
    self.folder = folder
    let tree = try PasswordTree(in: folder)
    gnupg = try GnuPG(environment: environment)
    (unusable, leftOut) = (tree.unusable, tree.leftOut)
    var others: [String] = []
    for file in tree.files {
      if file.hasSuffix(PasswordTree.suffix) {
        add(file)
      } else if file.hasSuffix(Self.otherSuffix) {
        let why =
          "is encrypted with age, and only files of GnuPG are read: store what 'age --decrypt' shows with 'whorl set'"
        unusable.append(UnusableEntry(file, .source(why)))
      } else {
        others.append(file)
      }
    }
    // An empty store has the file that names its keys.
    guard !entries.isEmpty || !unusable.isEmpty || access("\(folder)/.gpg-id", F_OK) == 0 else {
      throw .malformed("\(folder) is no folder of pass: no entry is in it, and no file .gpg-id")
    }
    if let first = others.first {
      leftOut.append(
        others.count == 1
          ? "the file '\(first)', which is no entry of pass"
          : "\(Spoken.plural(others.count, "file")) that are no entries of pass, such as '\(first)'")
    }
  }

  private mutating func add(_ file: String) {
    let called = String(file.dropLast(PasswordTree.suffix.count))
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
    read.secrets = try PassContents(text).secrets
    let items: [ImportedItem]
    do throws(VaultError) {
      items = try read.items(named: entry.name)
    } catch {
      throw .unreadable("has a name that is too long for its notes to be stored beside it")
    }
    guard !items.isEmpty else { throw .unreadable("has nothing in it") }
    return items
  }
}
