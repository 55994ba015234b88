package import SecretModel
internal import SecureMemory

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
      } catch .unreadable(let why) {
        outcome.unusable.append(UnusableEntry(entry.name.description, .source(why)))
        continue
      }
      for item in items.reversed() {
        do throws(VaultError) {
          switch try await store.bringIn(new(item), secret: item.secret.copy()) {
          case .added:
            outcome.brought.append(item.name)
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
