internal import SDBus
internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// The rule of a program for whatever it reads, as the store has it. The vault does not know who reads: this service asks
/// the person in its place, also for items that have no rule of their own.
final class ProgramRule: Sendable {
  struct Value: Sendable {
    let access: AccessControl
    let grant: SecretServiceItem.Grant
  }

  /// How long a rule counts that was read, in microseconds: the command line may change it.
  private static let age: UInt64 = 2_000_000

  private let program: ClientProgram
  private let desk: PromptDesk
  private let keeper: ItemKeeper
  private let state = Mutex<(value: Value?, until: UInt64)>((nil, 0))

  init(of program: ClientProgram, at desk: PromptDesk, in keeper: ItemKeeper) {
    (self.program, self.desk, self.keeper) = (program, desk, keeper)
  }

  /// Nil where the program has none, or was granted what it reads until the service ends.
  func current() async throws(VaultError) -> Value? {
    guard let path = program.path, !desk.isGrantedForSession(program) else { return nil }
    if let known = state.withLock({ $0.until > BusLoop.now ? $0 : nil }) { return known.value }
    let search = SecretServiceFolder.search(.program, path)
    let folder = try await keeper.store.items(search).first.flatMap(SecretServiceFolder.init)
    var value: Value?
    if let folder, let access = folder.access, access != .none {
      value = Value(access: AccessControl(access), grant: folder.grant)
    }
    state.withLock { $0 = (value, BusLoop.now + Self.age) }
    return value
  }
}
