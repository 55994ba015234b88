package import SecretModel
package import SecureMemory

/// Brings the items of an export into a store, with their attributes, rules and classes.
///
/// What the store has already stays as it is, so that an import can be run again.
package struct ItemFileImport: Sendable {
  private let file: Int32
  private let key: SharedSecret
  private let store: any VaultService
  private let transfer: EncryptedTransfer
  private let bound: BoundItems

  /// What becomes of items that are bound to the enrolled fingers of the machine they come from.
  package enum BoundItems: Sendable {
    /// One touch binds them to the fingers that are enrolled here.
    case bind
    case leaveOut
  }

  /// - Parameters:
  ///   - file: an encrypted file, open for reading, borrowed for as long as this exists.
  ///   - key: of its contents (``VaultConnection/fileKey(of:with:)``).
  ///   - connection: a private vault, which decrypts.
  package init(
    of file: Int32, key: SharedSecret, into store: any VaultService, by connection: any VaultConnection,
    _ bound: BoundItems
  ) {
    (self.file, self.key, self.store, self.bound) = (file, key, store, bound)
    transfer = EncryptedTransfer(connection: connection)
  }

  /// What would be brought in. Asks nobody, and reads the whole file: a damaged one is found before anything is done.
  ///
  /// - Throws: `fileUnreadable`, `inputOutput`, and errors of the store.
  package func plan() async throws(VaultError) -> ImportPlan {
    var living = ItemSearch.everything
    living.states = [.living]
    var there: Set<PrimaryAttributes> = []
    repeat {
      let page = try await store.items(living, .nobody)
      for item in page.items {
        if let itemClass = item.itemClass { there.insert(.init(of: itemClass, item.attributes)) }
      }
      living.after = page.next
    } while living.after != nil
    let hasFingers = try await store.hasFingers()
    return try await transfer.decrypt(file, with: key) { [there] (socket) async throws(VaultError) in
      var plan = ImportPlan(unusable: [])
      var seen: Set<PrimaryAttributes> = []
      let reader = ItemFileReader(from: socket)
      var place = 0
      while let (item, _) = try reader.next() {
        defer { place += 1 }
        let name = ItemName(of: item.itemClass, item.attributes)
        let primary = PrimaryAttributes(of: item.itemClass, item.attributes)
        if !seen.insert(primary).inserted {
          plan.duplicates.append(name)
        } else if there.contains(primary) {
          plan.alreadyThere.append(name)
        } else if item.access.flags.contains(.biometryCurrentSet), let obstacle = obstacle(hasFingers: hasFingers) {
          plan.unusable.append(UnusableEntry(name.description, .source(obstacle)))
        } else {
          plan.coming.append(ImportEntry(place: place, name: name))
          if item.access.flags.contains(.biometryCurrentSet) { plan.binding.append(name) }
        }
      }
      return plan
    }
  }

  /// Brings in what the plan says. Asks for one touch first, if it binds items to fingers.
  ///
  /// - Parameter asking: in a context that may ask; the reason says what for.
  /// - Throws: an error of the authentication, before anything is brought in; `fileUnreadable` and `inputOutput`, if the
  ///   file was changed meanwhile; and errors that keep the store from taking any item. What was brought in before
  ///   stays.
  package func bring(_ plan: ImportPlan, _ asking: Asking) async throws(VaultError) -> ImportOutcome {
    if !plan.binding.isEmpty { _ = try await store.evaluate(.access(AccessControl(.currentSet)), asking) }
    let coming = Set(plan.coming.map(\.place))
    return try await transfer.decrypt(file, with: key) { (socket) async throws(VaultError) in
      var outcome = ImportOutcome(
        alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
      let reader = ItemFileReader(from: socket)
      var place = 0
      while let (item, secret) = try reader.next() {
        defer { place += 1 }
        guard coming.contains(place) else { continue }
        let name = ItemName(of: item.itemClass, item.attributes)
        do throws(VaultError) {
          switch try await store.bringIn(item, secret: secret.copy()) {
          case .added: outcome.brought.append(name)
          case .alreadyThere: outcome.alreadyThere.append(name)
          }
        } catch {
          guard error.concernsItem else { throw error }
          outcome.unusable.append(UnusableEntry(name.description, .refused(error)))
        }
      }
      return outcome
    }
  }

  private func obstacle(hasFingers: Bool) -> String? {
    switch bound {
    case .leaveOut: "is bound to the fingers of the machine it comes from"
    case .bind where !hasFingers:
      "is bound to fingers, and none is enrolled here: 'whorl enroll' one, and import again"
    case .bind: nil
    }
  }
}

extension VaultError {
  /// Whether the store may take another item of an export all the same. Its items have different rules.
  fileprivate var concernsItem: Bool {
    switch self {
    case .passcodeNotSet, .notEnrolled, .invalidAccessControl: true
    default: concernsItemAlone
    }
  }
}
