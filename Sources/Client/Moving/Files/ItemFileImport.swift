internal import Glibc
package import SecretModel
package import SecureMemory

/// Imports the items of an export into a store, with their attributes, rules and classes.
///
/// Existing items stay unchanged, so that an import can be run again.
package struct ItemFileImport: Sendable {
  private let file: Int32
  private let key: SharedSecret
  private let store: any VaultService
  private let transfer: EncryptedTransfer
  private let bound: BoundItems
  private let progress: MoveProgress

  /// How to import items that are bound to the enrolled fingers of the other machine.
  package enum BoundItems: Sendable {
    /// One touch binds them to the fingers that are enrolled here.
    case bind
    case leaveOut
  }

  /// - Parameters:
  ///   - file: an encrypted file, open for reading, borrowed for as long as this exists.
  ///   - key: of its contents (``VaultConnection/fileKey(of:with:)``).
  ///   - connection: a private vault, which decrypts.
  ///   - progress: called with bytes of the file while it is read for the plan, and with items while they are stored.
  package init(
    of file: Int32, key: SharedSecret, into store: any VaultService, by connection: any VaultConnection,
    _ bound: BoundItems, _ progress: @escaping MoveProgress = { _, _ in }
  ) {
    (self.file, self.key, self.store, self.bound) = (file, key, store, bound)
    self.progress = progress
    transfer = EncryptedTransfer(connection: connection)
  }

  /// What would be imported. Shows no prompt. Reads the whole file, so that damage is found before anything is stored.
  ///
  /// - Throws: `fileUnreadable`, `inputOutput`, and errors of the store.
  package func plan() async throws(VaultError) -> ItemFilePlan {
    var living = ItemSearch.everything
    living.states = [.living]
    var there = SeenItems()
    repeat {
      let page = try await store.items(living, .nobody)
      for item in page.items {
        if let itemClass = item.itemClass { _ = there.insert(itemClass, item.attributes) }
      }
      living.after = page.next
    } while living.after != nil
    let hasFingers = try await store.hasFingers()
    let all = size
    return try await transfer.decrypt(file, with: key) { [there] (socket) async throws(VaultError) in
      var plan = ItemFilePlan()
      var seen = SeenItems()
      let reader = ItemFileReader(from: socket)
      while let (item, _) = try reader.next() {
        let name = ItemName(of: item.itemClass, item.attributes)
        var comes = false
        if let obstacle = MoveObstacle(ofGroup: item.attributes) {
          plan.unusable.append(UnusableEntry(name.description, .source(Self.words(obstacle))))
        } else if !seen.insert(item.itemClass, item.attributes) {
          plan.duplicates.append(name)
        } else if there.contains(item.itemClass, item.attributes) {
          plan.alreadyThere.append(name)
        } else if item.access.flags.contains(.biometryCurrentSet), let obstacle = obstacle(hasFingers: hasFingers) {
          plan.unusable.append(UnusableEntry(name.description, .source(obstacle)))
        } else {
          comes = true
          plan.coming.append(name)
          if item.access.flags.contains(.biometryCurrentSet) { plan.binding.append(name) }
        }
        plan.comes.append(comes)
        progress(min(reader.count, all), all)
      }
      return plan
    }
  }

  /// The length of the file in bytes; 0 if it is unknown.
  private var size: Int {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Imports the items of the plan. Asks for one touch first, if it binds items to fingers.
  ///
  /// Many items are stored in one transaction. If the import is interrupted, each item is stored completely or not at
  /// all, and another import of the file stores the rest.
  ///
  /// - Parameter asking: in a context that may ask, with the reason for the prompt.
  /// - Throws: an error of the authentication, before anything is imported; `fileUnreadable` and `inputOutput`, if the
  ///   file was changed meanwhile; and errors that prevent storing any item. Items stored before stay.
  package func bring(_ plan: ItemFilePlan, _ asking: Asking) async throws(VaultError) -> ItemFileOutcome {
    if plan.binding.count > 0 { _ = try await store.evaluate(.access(AccessControl(.currentSet)), asking) }
    return try await transfer.decrypt(file, with: key) { (socket) async throws(VaultError) in
      var outcome = ItemFileOutcome(
        alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
      var done = 0
      func tell(_ item: NewItem, _ error: VaultError?) {
        let name = ItemName(of: item.itemClass, item.attributes)
        switch error {
        case nil: outcome.brought.append(name)
        case .duplicateItem?: outcome.alreadyThere.append(name)
        case .some(let error): outcome.unusable.append(UnusableEntry(name.description, .refused(error)))
        }
        done += 1
        progress(done, plan.coming.count)
      }
      var arriving = ArrivingItems(in: store)
      do throws(VaultError) {
        let reader = ItemFileReader(from: socket)
        var place = 0
        while let (item, secret) = try reader.next() {
          defer { place += 1 }
          guard place < plan.comes.count, plan.comes[place] else { continue }
          guard item.itemClass != .passkey else {
            tell(item, try await store.refusal(of: item, secret))
            continue
          }
          try await arriving.add(ItemToAdd(item, secret: secret), tell)
        }
        try await arriving.finish(tell)
      } catch {
        await arriving.abandon()
        throw error
      }
      return outcome
    }
  }

  private static func words(_ obstacle: MoveObstacle) -> String {
    obstacle == .ofThisMachine
      ? "is in the group of 'whorl login', which is never imported from a file"
      : "is in the group of the store's own key, which is never imported from a file"
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
