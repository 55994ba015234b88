internal import SDBus
internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// A program's own rule, which applies to everything that it reads. The vault does not know which program reads, so
/// this service asks the person itself, also for items without a rule of their own.
final class ProgramRule: Sendable {
  struct Value: Sendable {
    let access: AccessControl
    let grant: SecretServiceItem.Grant

    init(access: AccessControl, grant: SecretServiceItem.Grant) { (self.access, self.grant) = (access, grant) }

    /// Nil for a record without a rule.
    init?(_ folder: SecretServiceFolder) {
      guard let access = folder.access, access != .none else { return nil }
      self.init(access: AccessControl(access), grant: folder.grant)
    }
  }

  /// How long a rule that was read stays cached, in microseconds. The command line may change it meanwhile.
  private static let age: UInt64 = 2_000_000

  private let program: ClientProgram
  private let desk: PromptDesk
  private let keeper: ItemKeeper
  private let state = Mutex<(value: Value?, until: UInt64)>((nil, 0))

  init(of program: ClientProgram, at desk: PromptDesk, in keeper: ItemKeeper) {
    (self.program, self.desk, self.keeper) = (program, desk, keeper)
  }

  /// Nil if the program has no rule, or a grant for all of its reads until the service ends.
  func current() async throws(VaultError) -> Value? {
    guard let rule = try await stored(), !(rule.grant == .session && desk.isGranted(program, rule.access)) else {
      return nil
    }
    return rule
  }

  /// The stored rule, cached for a short time.
  private func stored() async throws(VaultError) -> Value? {
    if let known = state.withLock({ $0.until > LoopClock.now ? $0 : nil }) { return known.value }
    let value: Value?
    if let path = program.path {
      let found = try await keeper.store.items(SecretServiceFolder.search(.program, path))
      value = found.compactMap(SecretServiceFolder.init).compactMap(Value.init).first
    } else if let path = program.earlierPath,
      let rule = try await keeper.store.items(SecretServiceFolder.search(.program, path))
        .compactMap(SecretServiceFolder.init).compactMap(Value.init).first
    {
      // A rule only restricts, so it holds for a program that says it was this one before an update.
      value = Value(access: rule.access, grant: .brief)
    } else {
      // The executable is unknown, so it may be any program. If any program has a rule, require presence.
      let found = try await keeper.store.items(SecretServiceFolder.search(.program))
      let isAny = found.compactMap(SecretServiceFolder.init).contains { Value($0) != nil }
      value = isAny ? Value(access: AccessControl(.presence), grant: .brief) : nil
    }
    state.withLock { $0 = (value, LoopClock.now + Self.age) }
    return value
  }
}
