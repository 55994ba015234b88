package import Moving
internal import SecretModel

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
