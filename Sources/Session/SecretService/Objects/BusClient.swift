internal import SDBus
internal import SessionPrompts
internal import Synchronization

/// A program on the bus, for as long as it is connected, with its sessions and prompts.
final class BusClient: Sendable {
  /// The most calls, sessions and prompts of one client at a time.
  static let limit = 64

  /// Its unique name.
  let name: String
  let program: ClientProgram
  let rule: ProgramRule
  let reads: GatedReads

  private struct State {
    var sessions: [String: TransferSession] = [:]
    var prompts: [String: ServicePrompt] = [:]
  }

  private let state = Mutex(State())

  init(named name: String, _ program: ClientProgram, at desk: PromptDesk, in keeper: ItemKeeper) {
    (self.name, self.program) = (name, program)
    rule = ProgramRule(of: program, at: desk, in: keeper)
    reads = GatedReads(of: program, rule, at: desk)
  }

  /// - Throws: `noSession` for a session of another client too.
  func session(_ path: String) throws(ServiceError) -> TransferSession {
    guard case .session(let name)? = ObjectPath(path), let session = state.withLock({ $0.sessions[name] }) else {
      throw .noSession
    }
    return session
  }

  func add(_ session: TransferSession, named name: String) throws(ServiceError) {
    let isAdded = state.withLock { state in
      guard state.sessions.count < Self.limit else { return false }
      state.sessions[name] = session
      return true
    }
    guard isAdded else { throw .limitsExceeded("a program has at most \(Self.limit) sessions") }
  }

  /// - Throws: `noSession`.
  func closeSession(_ name: String) throws(ServiceError) {
    guard state.withLock({ $0.sessions.removeValue(forKey: name) }) != nil else { throw .noSession }
  }

  func add(_ prompt: ServicePrompt) throws(ServiceError) {
    let isAdded = state.withLock { state in
      guard state.prompts.count < Self.limit else { return false }
      state.prompts[prompt.name] = prompt
      return true
    }
    guard isAdded else { throw .limitsExceeded("a program has at most \(Self.limit) prompts") }
  }

  /// - Throws: `noSuchObject` for a prompt of another client too.
  func prompt(_ name: String) throws(ServiceError) -> ServicePrompt {
    guard let prompt = state.withLock({ $0.prompts[name] }) else { throw .noSuchObject }
    return prompt
  }

  func remove(_ prompt: ServicePrompt) { state.withLock { _ = $0.prompts.removeValue(forKey: prompt.name) } }

  /// Ends what runs for it, when it has left the bus.
  func end() {
    let prompts = state.withLock { Array($0.prompts.values) }
    for prompt in prompts { prompt.dismiss() }
    reads.end()
  }
}
