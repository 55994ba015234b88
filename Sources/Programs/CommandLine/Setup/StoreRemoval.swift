import Moving
import Processes
internal import Prompts
import SecretModel
import Settings
import Whorl

/// The removal of the user's own store, and what would go with it.
struct StoreRemoval {
  let session: Session
  let place: StorePlace
  let hardening: Hardening

  /// What was found in the store.
  struct Contents {
    /// What exists nowhere else.
    let only: OnlyCopies
    /// All of it, to notice what comes later.
    fileprivate let all: OnlyCopies
  }

  /// The items that other machines have; none without a store.
  func itemsOnOtherMachines() async throws(Failure) -> Set<ItemID> {
    guard try await session.openStoreIfThere() != nil else { return [] }
    return try await session.request { try await OnlyCopies.onOtherMachines($0) }
  }

  /// What is in the store, and exists only there. Compares what the desktop's programs have stored with what the program has that keeps
  /// it now, for which items with a rule ask for a touch.
  func contents(elsewhere: Set<ItemID>) async throws(Failure) -> Contents {
    // Read before the comparison: an item that changes during it counts as a new one.
    let all = try await session.request { try await OnlyCopies(of: $0) }
    let seen = elsewhere.union(await copiedBack())
    let only = try await session.request { try await OnlyCopies(of: $0, elsewhere: seen) }
    await session.close()
    return Contents(only: only, all: all)
  }

  /// The items that the other program has with the same secret; none if that cannot be seen.
  private func copiedBack() async -> Set<ItemID> {
    guard let items = try? await session.request({ try await SecretServiceReturn.items(of: $0) }), !items.isEmpty,
      let holder = try? await SecretServiceHolderReport.running(), !holder.own
    else { return [] }
    var context = session.contextOptions
    // One touch and one passcode serve all items.
    context.keepsEvidence = true
    let seen = try? await session.asking(
      session.answers(), options: context, reason: "see which passwords \(PromptLabel.text(holder.name)) has"
    ) { vault, asking in
      try await SecretServiceReturn(onBus: BaseDirectories.sessionBus, from: vault).itemsThere(asking)
    }
    return seen ?? []
  }

  /// Removes the store.
  ///
  /// - Parameter contents: what the person has been told of.
  /// - Returns: whether it was removed.
  /// - Throws: if anything has come since. Then nothing is removed.
  func remove(with contents: Contents) async throws(Failure) -> Bool {
    let now = try await session.request { try await OnlyCopies(of: $0) }
    await session.close()
    guard now.isWithin(contents.all) else {
      throw Failure(
        .refused, "something was stored or changed in the store meanwhile, so that it was kept",
        advice: "run 'whorl setup --undo' again")
    }
    switch place {
    case .folder(let folder):
      try PrivateStoreFiles.remove(folder.directory)
      StandardError.line("Removed \(Visible.text(folder.directory)).")
      return true
    case .own:
      // All of it has been named here, and agreed to.
      let command = ["sudo", "whorl", "admin", "remove", Account.ownName, "--yes", OnlyCopiesOption.spoken]
      StandardError.line(Visible.text("> \(ShellLine.text(command))"))
      return ChosenCommand(command).run(hardening) == 0
    }
  }
}
