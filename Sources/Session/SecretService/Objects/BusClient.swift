internal import SDBus
internal import SecretModel
internal import SessionPrompts
internal import Synchronization

/// A program on the bus, for as long as it is connected, with its sessions and prompts.
final class BusClient: Sendable {
  /// The most calls, sessions and prompts of one client at a time.
  static let limit = 64
  /// The most requests of one sandboxed program at a time.
  static let requestLimit = 8

  /// Its unique name.
  let name: String
  let program: ClientProgram
  let rule: ProgramRule
  let reads: GatedReads

  private let desk: PromptDesk
  private let keeper: ItemKeeper

  private typealias Request = Task<Result<ReleasedItem, ServiceError>, Never>

  private struct State {
    var sessions: [String: TransferSession] = [:]
    var prompts: [String: ServicePrompt] = [:]
    /// The programs for which a portal asks, by their ids.
    var sandboxed: [String: BusClient] = [:]
    /// What a portal waits for, by the path of its request.
    var requests: [String: Request] = [:]
  }

  private let state = Mutex(State())

  init(named name: String, _ program: ClientProgram, at desk: PromptDesk, in keeper: ItemKeeper) {
    (self.name, self.program, self.desk, self.keeper) = (name, program, desk, keeper)
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

  // MARK: Sandboxed programs

  /// The sandboxed program for which this portal asks. It shares no prompt and no touch with another.
  func sandboxed(_ application: String) throws(ServiceError) -> BusClient {
    let client: BusClient? = state.withLock { state in
      if let known = state.sandboxed[application] { return known }
      state.sandboxed = state.sandboxed.filter { !$0.value.isIdle }
      guard state.sandboxed.count < Self.limit else { return nil }
      let client = BusClient(named: name, program.asking(for: application), at: desk, in: keeper)
      state.sandboxed[application] = client
      return client
    }
    guard let client else { throw .limitsExceeded("too many sandboxed programs are waiting") }
    return client
  }

  private var isIdle: Bool { reads.isIdle && state.withLock { $0.requests.isEmpty } }

  /// Reads for this sandboxed program, until the portal closes its request.
  ///
  /// - Parameters:
  ///   - request: the path of the request.
  ///   - body: may be cancelled.
  func read(
    _ request: String, _ body: @Sendable @escaping () async throws(ServiceError) -> ReleasedItem
  ) async throws(ServiceError) -> ReleasedItem {
    let reading: Request? = state.withLock { state in
      guard state.requests.count < Self.requestLimit, state.requests[request] == nil else { return nil }
      let reading = Request(executorPreference: LoopTasks.shared) {
        do throws(ServiceError) {
          return .success(try await body())
        } catch {
          return .failure(error)
        }
      }
      state.requests[request] = reading
      return reading
    }
    guard let reading else { throw .limitsExceeded("too many requests of this program are waiting") }
    defer { state.withLock { _ = $0.requests.removeValue(forKey: request) } }
    return try await reading.value.get()
  }

  /// Ends a request of this portal, for whichever sandboxed program it is.
  ///
  /// - Throws: `noSuchObject`.
  func closeRequest(_ path: String) throws(ServiceError) {
    let sandboxed = state.withLock { Array($0.sandboxed.values) }
    let reading = sandboxed.lazy.compactMap { client in client.state.withLock { $0.requests[path] } }.first
    guard let reading else { throw .noSuchObject }
    reading.cancel()
  }

  /// Ends what runs for it, when it has left the bus.
  func end() {
    let (prompts, sandboxed) = state.withLock { (Array($0.prompts.values), Array($0.sandboxed.values)) }
    for prompt in prompts { prompt.dismiss() }
    for client in sandboxed { client.end() }
    reads.end()
  }
}
