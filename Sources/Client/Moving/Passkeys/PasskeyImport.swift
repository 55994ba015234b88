package import SecretModel
internal import SecureMemory

/// Imports passkeys of another program. The vault checks each key, and refuses passkeys that are not valid.
package struct PasskeyImport: Sendable {
  private let items: [(item: NewItem, secret: MovingPasskey)]
  private let store: any VaultService
  private let access: AccessControl

  /// - Parameter access: of all imported passkeys.
  package init(_ file: PasskeyFile, into store: any VaultService, access: AccessControl) {
    items = file.entries.map { (NewItem(.passkey, $0.attributes, access: access), $0.secret) }
    (self.store, self.access) = (store, access)
  }

  /// What would be imported. Shows no prompt.
  package func plan() async throws(VaultError) -> ItemFilePlan {
    var there: Set<AttributeValue> = []
    for item in try await store.allItems(ItemSearch(.passkey, groups: .all, synchronizable: .any)) {
      if let id = item.attributes[.credentialID] { there.insert(id) }
    }
    var seen: Set<AttributeValue> = []
    var plan = ItemFilePlan()
    for (item, _) in items {
      let name = ItemName(of: .passkey, item.attributes)
      guard let id = item.attributes[.credentialID] else { continue }
      if !seen.insert(id).inserted {
        plan.duplicates.append(name)
      } else if there.contains(id) {
        plan.alreadyThere.append(name)
      } else {
        plan.coming.append(name)
        plan.comes.append(true)
        continue
      }
      plan.comes.append(false)
    }
    return plan
  }

  /// Imports the passkeys of the plan, after the proof that their access control requires.
  ///
  /// - Throws: an error of the authentication, before anything is imported, and errors that prevent storing any item.
  package func bring(_ plan: ItemFilePlan, _ asking: Asking) async throws(VaultError) -> ItemFileOutcome {
    var outcome = ItemFileOutcome(
      alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
    _ = try await store.evaluate(.access(access), asking)
    for (entry, comes) in zip(items, plan.comes) where comes {
      let name = ItemName(of: .passkey, entry.item.attributes)
      switch try await store.refusal(of: entry.item, SharedSecret(entry.secret.bytes)) {
      case nil: outcome.brought.append(name)
      case .duplicateItem?: outcome.alreadyThere.append(name)
      case .some(let error): outcome.unusable.append(UnusableEntry(name.description, .refused(error)))
      }
    }
    return outcome
  }
}
