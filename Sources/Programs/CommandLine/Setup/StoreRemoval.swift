import OtherStores
import Processes
internal import PromptTexts
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
    let store: any VaultService
    do throws(Failure) {
      store = try await session.store()
    } catch {
      guard error.status == .notFound else { throw error }
      return []
    }
    return try await session.explained { () async throws(VaultError) in try await OnlyCopies.onOtherMachines(store) }
  }

  /// What is in the store, and exists only there. Compares what the desktop's programs have stored with what the program has that keeps
  /// it now, for which items with a rule ask for a touch.
  func contents(elsewhere: Set<ItemID>) async throws(Failure) -> Contents {
    let store = try await session.store()
    // Read before the comparison: an item that changes during it counts as a new one.
    let all = try await session.explained { () async throws(VaultError) in try await OnlyCopies(of: store) }
    let seen = elsewhere.union(await copiedBack(from: store))
    let only = try await session.explained { () async throws(VaultError) in
      try await OnlyCopies(of: store, elsewhere: seen)
    }
    await session.close()
    return Contents(only: only, all: all)
  }

  /// The items that the other program has with the same secret; none if that cannot be seen.
  private func copiedBack(from store: any VaultService) async -> Set<ItemID> {
    guard let items = try? await SecretServiceReturn.items(of: store), !items.isEmpty,
      let holder = try? await SecretServiceHolderReport.running(), !holder.own,
      let there = try? await SecretServiceReturn(onBus: BaseDirectories.sessionBus, from: store)
    else { return [] }
    var context = session.contextOptions
    // One touch and one passcode serve all items.
    context.keepsEvidence = true
    let seen = try? await session.asking(
      store, session.answers(), options: context, reason: "see which passwords \(PromptLabel.text(holder.name)) has"
    ) { try await there.itemsThere($0) }
    return seen ?? []
  }

  /// Removes the store.
  ///
  /// - Parameter contents: what the person has been told of.
  /// - Returns: whether it was removed.
  /// - Throws: if anything has come since. Then nothing is removed.
  func remove(with contents: Contents) async throws(Failure) -> Bool {
    let store = try await session.store()
    let now = try await session.explained { () async throws(VaultError) in try await OnlyCopies(of: store) }
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
