// Items from the stores of other programs: what a source has to say, the plan, and the import.

package import Primitives
package import SecretModel

/// Secrets of another program, to be imported into a store.
package protocol ImportSource: Sendable {
  /// The entries that can be imported, in the source's own order.
  var entries: [ImportEntry] { get }
  /// The entries that cannot be imported.
  var unusable: [UnusableEntry] { get }
  /// Fields that are left out of all entries, in words that follow "left out". They are not secret.
  var leftOut: [String] { get }
  /// The items that an entry becomes. The first has the entry's name and attributes; further secrets of the entry
  /// follow as separate items.
  ///
  /// - Throws: `unreadable` if other entries may still be readable, else an error that ends the import.
  func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem]
}

extension ImportSource {
  package var leftOut: [String] { [] }
}

/// What is known about an entry of a source before its secrets are read.
package struct ImportEntry: Sendable, Hashable {
  /// Its position in the source, from 0 on.
  package let place: Int
  /// What its item will be called.
  package let name: ItemName

  package init(place: Int, name: ItemName) {
    self.place = place
    self.name = name
  }
}

/// An item that an entry becomes.
package final class ImportedItem: Sendable {
  package let name: ItemName
  /// Attributes in addition to those that follow from the name.
  package let attributes: [AttributeName: AttributeValue]
  package let secret: SecretBytes

  package init(
    _ name: ItemName, _ attributes: [AttributeName: AttributeValue] = [:], secret: consuming SecretBytes
  ) {
    self.name = name
    self.attributes = attributes
    self.secret = secret
  }
}

/// An entry that is not imported.
package struct UnusableEntry: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// The reason why the entry itself cannot be imported, in words that follow "it".
    case source(String)
    /// A field has an implausible value: the field's name, and the reason in words that follow it. Never the value.
    case field(String, String)
    /// The store does not take it.
    case refused(VaultError)
  }

  /// Its name or position in the source.
  package let called: String
  package let reason: Reason

  package init(_ called: String, _ reason: Reason) {
    self.called = called
    self.reason = reason
  }
}

/// Why a source cannot be read. No case carries a secret.
package enum ImportError: Error, Sendable, Hashable {
  /// There is nothing at this path.
  case missing(String)
  /// The input does not have the expected format; the value says where and why.
  case malformed(String)
  /// The program or service that reads the source is not available; the value says which and why.
  case unavailable(String)
  /// One entry cannot be read; the value says why, in words that follow "it". The others may be readable.
  case unreadable(String)
  /// The person dismissed a prompt of the other program; the value names what it was for.
  case declined(String)
  /// The source is this store itself.
  case ownService
  /// The system refused to read; the value says what.
  case system(String)
}

/// The plan of an import, with the items' new names.
package struct ImportPlan: Sendable {
  package var coming: [ImportEntry] = []
  /// The store has an item of that name.
  package var alreadyThere: [ItemName] = []
  /// Further entries of the source under a name that an earlier one has.
  package var duplicates: [ItemName] = []
  package var unusable: [UnusableEntry]
  /// The fields that are left out of all entries.
  package var leftOut: [String]
}

/// What an import has done.
package struct ImportOutcome: Sendable {
  package var brought: [ItemName] = []
  /// Those of ``brought``, by which they can be taken out again.
  package var items: [ItemID] = []
  package var alreadyThere: [ItemName]
  package var duplicates: [ItemName]
  package var unusable: [UnusableEntry]
  package var leftOut: [String]

  /// Whether all secrets of the source can be imported. Entries whose names already exist in the store are not
  /// compared.
  package var isWhole: Bool { duplicates.isEmpty && unusable.isEmpty }
}

/// Imports another program's secrets into a store, as generic passwords of the command line.
///
/// Existing items stay unchanged, so that an import can be run again. The source is not changed.
package struct ItemImport: Sendable {
  private let source: any ImportSource
  private let store: any VaultService
  private let access: AccessControl
  private let accessibility: Accessibility

  /// - Parameters:
  ///   - access: of all imported items.
  ///   - accessibility: of all imported items.
  package init(
    from source: any ImportSource, to store: any VaultService, access: AccessControl, accessibility: Accessibility
  ) {
    self.source = source
    self.store = store
    self.access = access
    self.accessibility = accessibility
  }

  /// What would be imported. Shows no prompt, and reads no secret if the source can list its entries without reading
  /// secrets.
  package func plan() async throws(VaultError) -> ImportPlan {
    let own = ItemSearch(.genericPassword, groups: .named([AccessGroup.commandLine]))
    let there = Set(try await store.allItems(own).compactMap(\.name))
    var plan = ImportPlan(unusable: source.unusable, leftOut: source.leftOut)
    var seen: Set<ItemName> = []
    for entry in source.entries {
      if !seen.insert(entry.name).inserted {
        plan.duplicates.append(entry.name)
      } else if there.contains(entry.name) {
        plan.alreadyThere.append(entry.name)
      } else {
        plan.coming.append(entry)
      }
    }
    return plan
  }

  /// Imports the entries of the plan. The item that has the entry's name is stored last, so that the next import
  /// repeats an interrupted entry.
  ///
  /// - Throws: an ``ImportError`` that ends the reading, or a `VaultError` that prevents storing any item. Items stored
  ///   before stay.
  package func bring(_ plan: ImportPlan) async throws -> ImportOutcome {
    var outcome = ImportOutcome(
      alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable, leftOut: plan.leftOut)
    var own: Set<ItemName> = []
    for entry in plan.coming {
      let items: [ImportedItem]
      do throws(ImportError) {
        items = try await source.items(of: entry)
      } catch {
        // Swift 6.2 crashes if the catch has the pattern.
        guard case .unreadable(let why) = error else { throw error }
        outcome.unusable.append(UnusableEntry(entry.name.description, .source(why)))
        continue
      }
      for item in items.reversed() {
        do throws(VaultError) {
          switch try await store.bringIn(new(item), secret: item.secret.copy()) {
          case .added(let id):
            outcome.brought.append(item.name)
            outcome.items.append(id)
            own.insert(item.name)
          case .alreadyThere where own.contains(item.name):
            // Such as the notes of "a", and an entry that is called "a#notes".
            let why = "has the name of another secret that was brought in: rename its entry there"
            outcome.unusable.append(UnusableEntry(item.name.description, .source(why)))
          case .alreadyThere: outcome.alreadyThere.append(item.name)
          }
        } catch {
          guard error.concernsNewItemOfAnyRule else { throw error }
          outcome.unusable.append(UnusableEntry(item.name.description, .refused(error)))
        }
      }
    }
    return outcome
  }

  private func new(_ item: ImportedItem) -> NewItem {
    var new = NewItem(named: item.name, access: access, accessibility: accessibility)
    new.attributes.merge(item.attributes) { own, _ in own }
    return new
  }
}

extension ImportError {
  /// Explanations of the errors of reading another program's secrets.
  package var explanation: Explanation {
    switch self {
    case .missing(let path): Explanation("there is nothing at \(path)", advice: "name where it is")
    case .malformed(let why): Explanation(why, advice: "nothing was imported; correct that, and import again")
    case .unavailable(let why): Explanation(why, advice: "install or start it, and try again")
    case .unreadable(let why): Explanation("an entry \(why)", advice: "correct it, and import again")
    case .declined(let what):
      Explanation(
        "\(what) was closed without an answer",
        advice: "import again: what is in the store already is not imported twice")
    case .ownService:
      Explanation(
        "Whorl itself is the Secret Service of this session, and cannot import from itself",
        advice:
          "to import from the earlier program, first make it the Secret Service again: whorl secret-service disable")
    case .system(let what): Explanation("cannot read \(what)", advice: "see its permissions")
    }
  }
}
