package import Moving
internal import SecretModel

/// Entries that were read together with their secrets, as those of a file are.
package struct ReadEntries: ImportSource {
  package private(set) var entries: [ImportEntry] = []
  package private(set) var unusable: [UnusableEntry]
  package let leftOut: [String]
  private let read: [PasswordEntry]

  /// - Parameters:
  ///   - unusable: the entries of the file that cannot be imported.
  ///   - leftOut: what is not imported of any entry.
  init(_ read: [PasswordEntry], unusable: [UnusableEntry] = [], leftOut: [String] = []) {
    (self.read, self.leftOut) = (read, leftOut)
    self.unusable = unusable
    for (place, entry) in read.enumerated() {
      do throws(VaultError) {
        let name = try entry.name
        guard try !entry.items(named: name).isEmpty else {
          self.unusable.append(UnusableEntry(entry.called, .source("has no password and nothing else that is secret")))
          continue
        }
        entries.append(ImportEntry(place: place, name: name))
      } catch {
        self.unusable.append(UnusableEntry(entry.called, .refused(error)))
      }
    }
  }

  package func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem] {
    do throws(VaultError) {
      return try read[entry.place].items(named: entry.name)
    } catch {
      throw .unreadable("has a name that no item can have")
    }
  }
}
