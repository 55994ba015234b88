package import Moving
internal import Processes
internal import Prompts
internal import SecretModel
internal import Whorl

/// The removal of the user's own store, and what would go with it.
package struct StoreRemoval: Sendable {
  /// What was found in the store.
  package struct Contents: Sendable {
    /// What exists nowhere else.
    package let only: OnlyCopies
    /// All of it, to notice what comes later.
    fileprivate let all: OnlyCopies
  }

  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }
  /// The items that other machines have.
  private let shared: Set<ItemID>

  /// Reads what other machines have, if there is a store: one that leaves the circle no longer tells.
  package init(_ dialogue: any ChangeDialogue) async throws(Failure) {
    self.dialogue = dialogue
    let context = dialogue.context
    shared =
      try await context.openStoreIfThere() == nil
      ? [] : try await context.request { try await OnlyCopies.onOtherMachines($0) }
  }

  /// What exists only in the store as far as nobody has to be asked; nothing without a store. What the desktop's programs
  /// have stored counts as such until it was compared.
  package func onlyCopiesBefore() async throws(Failure) -> OnlyCopies? {
    guard try await context.openStoreIfThere() != nil else { return nil }
    let shared = shared
    return try await context.request { try await OnlyCopies(of: $0, elsewhere: shared) }
  }

  /// What is in the store, and exists only there. Compares what the desktop's programs have stored with what the program has
  /// that keeps it now, for which items with a rule ask for a touch.
  package func contents() async throws(Failure) -> Contents {
    // Read before the comparison: an item that changes during it counts as a new one.
    let all = try await context.request { try await OnlyCopies(of: $0) }
    let seen = shared.union(await copiedBack())
    let only = try await context.request { try await OnlyCopies(of: $0, elsewhere: seen) }
    await context.close()
    return Contents(only: only, all: all)
  }

  /// The items that the other program has with the same secret; none if that cannot be seen.
  private func copiedBack() async -> Set<ItemID> {
    guard let items = try? await context.request({ try await SecretServiceReturn.items(of: $0) }), !items.isEmpty,
      let holder = try? await SecretServiceHolderReport.running(), !holder.own
    else { return [] }
    var manner = ChangeAsking("see which passwords \(PromptLabel.text(holder.name)) has")
    // One touch and one passcode serve all items.
    manner.keepsEvidence = true
    let seen = try? await dialogue.asking(manner) { vault, asking in
      try await SecretServiceReturn(onBus: BaseDirectories.sessionBus, from: vault).itemsThere(asking)
    }
    return seen ?? []
  }

  /// Removes the store.
  ///
  /// - Parameters:
  ///   - contents: what the person has been told of, and has agreed to.
  ///   - runAsRoot: runs a command of an administrator's, which begins with `sudo`, and returns whether it succeeded.
  /// - Returns: whether it was removed.
  /// - Throws: if anything has come since. Then nothing is removed.
  package func remove(
    with contents: Contents, runAsRoot: ([String]) async throws(Failure) -> Bool
  ) async throws(Failure) -> Bool {
    let now = try await context.request { try await OnlyCopies(of: $0) }
    await context.close()
    guard now.isWithin(contents.all) else {
      throw Failure(
        .refused, "something was stored or changed in the store meanwhile, so that it was kept",
        advice: "run 'whorl setup --undo' again")
    }
    switch try context.place() {
    case .folder(let folder):
      try PrivateStoreFiles.remove(folder.directory)
      dialogue.tell(.done("Removed \(folder.directory)."))
      return true
    case .own:
      // All of it has been named here, and agreed to.
      return try await runAsRoot(["sudo", "whorl", "admin", "remove", Account.ownName, "--yes", OnlyCopies.option])
    }
  }
}
