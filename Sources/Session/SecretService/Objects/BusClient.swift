internal import SDBus
internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// A program on the bus, for as long as it is connected, with its sessions and prompts.
final class BusClient: Sendable {
  /// The most sessions. Some programs open one for each item that they read, and close none, so a further one takes the
  /// place of the one that was used least recently.
  private static let sessionLimit = 1_024
  /// The most prompts. A further one takes the place of the oldest that the client has not shown.
  private static let promptLimit = 256
  /// The most portal requests of one sandboxed program at a time.
  static let requestLimit = 8

  /// The unique name of its connection.
  let name: String
  let program: ClientProgram
  /// ``ClientProgram/words``, which every call takes.
  let words: String
  let rule: ProgramRule
  let reads: GatedReads

  private let desk: PromptDesk
  private let keeper: ItemKeeper

  private typealias Request = Task<Result<[BusValue], ServiceError>, Never>

  private struct State {
    var sessions: [String: (session: TransferSession, lastUse: UInt64)] = [:]
    var prompts: [String: (prompt: ServicePrompt, number: UInt64)] = [:]
    private var lastNumber: UInt64 = 0
    /// The sandboxed programs for which a portal has made requests, by id. Each has a running request or a recent
    /// touch, so their number is limited.
    var sandboxed: [String: BusClient] = [:]
    /// The requests of a portal that are still being answered, by their paths.
    var requests: [String: Request] = [:]

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  init(named name: String, _ program: ClientProgram, at desk: PromptDesk, in keeper: ItemKeeper) {
    (self.name, self.program, self.desk, self.keeper) = (name, program, desk, keeper)
    words = program.words
    rule = ProgramRule(of: program, at: desk, in: keeper)
    reads = GatedReads(of: program, rule, at: desk)
  }

  /// - Throws: `noSession` also for a session of another client.
  func session(_ path: String) throws(ServiceError) -> TransferSession {
    guard case .session(let name)? = ObjectPath(path) else { throw .noSession }
    let session = state.withLock { state in
      let use = state.nextNumber()
      state.sessions[name]?.lastUse = use
      return state.sessions[name]?.session
    }
    guard let session else { throw .noSession }
    return session
  }

  func add(_ session: TransferSession, named name: String) {
    state.withLock { state in
      if state.sessions.count >= Self.sessionLimit,
        let oldest = state.sessions.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        state.sessions[oldest.key] = nil
      }
      state.sessions[name] = (session, state.nextNumber())
    }
  }

  /// - Throws: `noSession`.
  func closeSession(_ name: String) throws(ServiceError) {
    guard state.withLock({ $0.sessions.removeValue(forKey: name) }) != nil else { throw .noSession }
  }

  /// - Throws: `limitsExceeded` where the client has shown all of its prompts.
  func add(_ prompt: ServicePrompt) throws(ServiceError) {
    let (isAdded, replaced) = state.withLock { state in
      var replaced: ServicePrompt?
      if state.prompts.count >= Self.promptLimit {
        let new = state.prompts.values.filter(\.prompt.isNew)
        replaced = new.min { $0.number < $1.number }?.prompt
        guard let replaced else { return (false, nil as ServicePrompt?) }
        state.prompts[replaced.name] = nil
      }
      state.prompts[prompt.name] = (prompt, state.nextNumber())
      return (true, replaced)
    }
    replaced?.dismiss()
    guard isAdded else { throw .limitsExceeded("a program shows at most \(Self.promptLimit) prompts") }
  }

  /// - Throws: `noSuchObject` also for a prompt of another client.
  func prompt(_ name: String) throws(ServiceError) -> ServicePrompt {
    guard let prompt = state.withLock({ $0.prompts[name]?.prompt }) else { throw .noSuchObject }
    return prompt
  }

  /// The names of its sessions and prompts, each the last part of a path.
  var objects: (sessions: [String], prompts: [String]) {
    state.withLock { ($0.sessions.keys.sorted(), $0.prompts.keys.sorted()) }
  }

  func remove(_ prompt: ServicePrompt) { state.withLock { _ = $0.prompts.removeValue(forKey: prompt.name) } }

  // MARK: Sandboxed programs

  /// Serves a request that this portal makes for a sandboxed program, until the portal closes the request. Sandboxed
  /// programs share no prompt and no touch.
  ///
  /// - Parameters:
  ///   - request: the path of the request.
  ///   - body: serves the request, with the sandboxed program as the client. May be cancelled.
  func serve(
    _ request: String, for application: String,
    _ body: @Sendable @escaping (BusClient) async throws(ServiceError) -> [BusValue]
  ) async throws(ServiceError) -> [BusValue] {
    let (client, serving) = try state.withLock { state throws(ServiceError) in
      if state.sandboxed[application] == nil { state.sandboxed = state.sandboxed.filter { !$0.value.isIdle } }
      let client =
        state.sandboxed[application]
        ?? BusClient(named: name, program.asking(for: application), at: desk, in: keeper)
      // Begin the request under the same lock: a client without requests may be dropped at any time.
      let serving = try client.begin(request, body)
      state.sandboxed[application] = client
      return (client, serving)
    }
    defer { client.state.withLock { _ = $0.requests.removeValue(forKey: request) } }
    return try await serving.value.get()
  }

  private var isIdle: Bool { !reads.hasGrants && state.withLock { $0.requests.isEmpty } }

  private func begin(
    _ request: String, _ body: @Sendable @escaping (BusClient) async throws(ServiceError) -> [BusValue]
  ) throws(ServiceError) -> Request {
    try state.withLock { state throws(ServiceError) in
      guard state.requests.count < Self.requestLimit, state.requests[request] == nil else {
        throw .limitsExceeded("too many requests of this program are waiting")
      }
      let serving = Request(executorPreference: LoopTasks.shared) {
        await Principal.$program.withValue(self.words) { () async -> Result<[BusValue], ServiceError> in
          do throws(ServiceError) {
            return .success(try await body(self))
          } catch {
            return .failure(error)
          }
        }
      }
      state.requests[request] = serving
      return serving
    }
  }

  /// Ends a request of this portal, for any sandboxed program.
  ///
  /// - Throws: `noSuchObject`.
  func closeRequest(_ path: String) throws(ServiceError) {
    let sandboxed = state.withLock { Array($0.sandboxed.values) }
    let serving = sandboxed.lazy.compactMap { client in client.state.withLock { $0.requests[path] } }.first
    guard let serving else { throw .noSuchObject }
    serving.cancel()
  }

  /// Ends the client's prompts and requests. Called when it has left the bus.
  func end() {
    let (prompts, requests, sandboxed) = state.withLock {
      ($0.prompts.values.map(\.prompt), Array($0.requests.values), Array($0.sandboxed.values))
    }
    for prompt in prompts { prompt.dismiss() }
    for request in requests { request.cancel() }
    for client in sandboxed { client.end() }
    reads.end()
  }
}
