package import Moving
internal import SecretModel

/// Ends the sharing of this computer. Its items stay, and the others keep theirs.
package struct SyncLeaving: Sendable {
  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }
  private let repository: GitRepository
  /// What exists only in what the computers share, and goes for good: the person has to agree to this before ``run(_:)``.
  package let lost: OnlyCopies

  /// - Throws: if this computer shares with no other, and has not asked to.
  package init(_ dialogue: any ChangeDialogue, _ repository: GitRepository) async throws(Failure) {
    (self.dialogue, self.repository) = (dialogue, repository)
    let status = try await dialogue.context.request { try await $0.sync.status() }
    guard status.standing != .none else { throw Failure(.notInCircle(.none)) }
    lost = OnlyCopies(leaving: status)
  }

  /// Leaves, and tells the other computers if their repository can be reached.
  ///
  /// - Returns: whether they were told.
  /// - Throws: if something else would be lost than ``lost``. Then nothing is changed.
  package func run(_ manager: ServiceManager) async throws(Failure) -> Bool {
    let before = try await context.request { try await $0.sync.status() }
    guard OnlyCopies(leaving: before).isWithin(lost) else {
      throw Failure(
        .tryAgain, "your other computers have changed something meanwhile, so that this one still shares",
        advice: "run it again")
    }
    try await dialogue.asking(ChangeAsking("stop sharing with your other computers")) {
      try await $0.sync.change(.leave, $1)
    }
    // If there are other machines, publish that this one has left.
    var areTold = true
    if try await context.request({ try await $0.sync.status() }).pending > 0 {
      let sync = try await context.request { $0.sync }
      areTold = (try? await SyncRun(repository, sync).run()) != nil
    }
    try? repository.remove()
    let units = try SyncUnits()
    if units.isInstalled { try? units.disable(manager) }
    return areTold
  }
}
