internal import Primitives
internal import Prompts
internal import SDBus
internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// The reads of one client that need a touch or the passcode. Reads that arrive during a prompt are combined into the
/// next one. Clients share no prompts or grants.
final class GatedReads: Sendable {
  /// How long a touch is valid for further reads of the same item by the same client.
  static let briefGrant = Duration.seconds(10)
  /// How long a refusal applies to further reads of the same item by the same client. Some clients retry at once after
  /// a refusal, which would show the same prompt twice.
  static let briefRefusal = Duration.seconds(2)
  /// How long a read waits for the person, if the client did not use `Unlock` and its prompt. libsecret gives up after
  /// 25 s.
  static let readLimit = Duration.seconds(20)

  /// What the person has allowed in one prompt.
  struct Allowed: Sendable {
    /// Meets the items' requirements, and never prompts again.
    let context: AuthenticationContext
    /// The items with a rule of their own that a read waited for, as the prompt released them.
    let released: [ItemID: ReleasedItem]
  }

  private struct Waiting {
    let number: Int
    let items: [SecretServiceItem]
    /// Whether it waits for the secrets of the items, not only for the permission to read them.
    let isRead: Bool
    /// The labels of what is unlocked by the same prompt.
    let unlocked: [String]
    let timer: LoopTimer?
    let continuation: CheckedContinuation<Result<Allowed, VaultError>, Never>
  }

  private struct State {
    /// Recent refusals, numbered so that an expired one does not remove a later one.
    var refusals: [ItemID: (number: Int, error: VaultError)] = [:]
    var lastNumber = 0
    /// Reads that wait for the next prompt.
    var queued: [Waiting] = []
    /// Reads that the current prompt asks for.
    var asked: [Waiting] = []
    var running: Task<Void, Never>?
    /// The context of the current prompt.
    var asking: AuthenticationContext?
    var isOver = false
  }

  private let program: ClientProgram
  private let rule: ProgramRule
  private let desk: PromptDesk
  /// The touches that count for this client alone.
  private let grants = KeptTouches<ItemID>()
  private let state = Mutex(State())

  init(of program: ClientProgram, _ rule: ProgramRule, at desk: PromptDesk) {
    (self.program, self.rule, self.desk) = (program, rule, desk)
  }

  /// A context that meets the item's requirements; nil if there is none. It never prompts again.
  func granted(_ item: some SecretServiceEntry) -> AuthenticationContext? {
    grants.context(for: item.id)
      // The item's rule may have changed since the grant, so check that it still allows one for the session.
      ?? (item.grant == .session ? desk.sessionGrant(item.id, program) : nil)
  }

  /// Runs a call with an earlier touch for the item; nil if there is none that still counts.
  func reuse<Value>(
    _ item: SecretServiceItem, _ call: (AuthenticationContext) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value? {
    if let value = try await grants.reuse(item.id, call) { return value }
    return item.grant == .session ? try await desk.reuse(item.id, program, call) : nil
  }

  /// Removes the grants for one item, or for all items (nil).
  func forget(_ id: ItemID?) { grants.forget { id == nil || $0 == id } }

  /// Asks the person for an item, unless a prompt has granted it meanwhile.
  func ask(for item: SecretServiceItem) async throws(VaultError) -> Allowed {
    if let granted = granted(item) { return Allowed(context: granted, released: [:]) }
    if let refusal = state.withLock({ $0.refusals[item.id] }) { throw refusal.error }
    return try await wait(for: [item], reading: true, within: Self.readLimit).get()
  }

  /// Asks the person in one prompt for all of the items that are not granted yet, and releases none: the reads that follow
  /// do. Waits without a limit until the prompt ends. What a prompt cannot name is refused (``PromptLabel/most``).
  ///
  /// - Parameter unlocked: the labels of what is unlocked by the same prompt, which names it.
  /// - Returns: whether the person was asked.
  func ask(for items: [SecretServiceItem], unlocking unlocked: [String]) async throws(VaultError) -> Bool {
    let missing = items.filter { granted($0) == nil }
    guard !missing.isEmpty else { return false }
    guard missing.count + unlocked.count <= PromptLabel.most else {
      throw .busy("a prompt names \(PromptLabel.most) items at most")
    }
    _ = try await wait(for: missing, reading: false, unlocking: unlocked, within: nil).get()
    return true
  }

  /// Asks for a finger or the passcode without releasing a secret.
  ///
  /// - Parameters:
  ///   - reason: the purpose, as the prompt shows it.
  ///   - body: asks in the given context, with the given reason.
  func show(
    _ reason: String, _ body: @Sendable @escaping (AuthenticationContext, String) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    let (desk, program) = (desk, program)
    // A prompt may block its thread, so it gets a thread of its own.
    let asking = Task(executorPreference: BackgroundThread()) { () -> Result<Void, VaultError>? in
      await desk.turns.run(for: program.program) {
        do throws(VaultError) {
          return .success(
            try await desk.inquiry(reason, program).converse(in: desk.store) { context throws(VaultError) in
              try await body(context, reason)
            })
        } catch {
          desk.log("refused to \(reason), asked by \(program.words): \(error.explanation.what)")
          return .failure(error)
        }
      }
    }
    let result = await withTaskCancellationHandler {
      await asking.value
    } onCancel: {
      asking.cancel()
    }
    guard let result else { throw .cancelled }
    try result.get()
  }

  /// Whether a touch is valid now.
  var hasGrants: Bool { !grants.isEmpty }

  /// Ends all waiting reads of a client that has disconnected.
  func end() {
    let (waiting, running) = state.withLock { state in
      state.isOver = true
      defer { (state.queued, state.asked) = ([], []) }
      return (state.queued + state.asked, state.running)
    }
    grants.forget()
    running?.cancel()
    for each in waiting { resume(each, .failure(.appCancelled)) }
  }

  // MARK: Waiting

  private func wait(
    for items: [SecretServiceItem], reading isRead: Bool, unlocking unlocked: [String] = [], within limit: Duration?
  ) async -> Result<Allowed, VaultError> {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let timer = limit.map { LoopTimer(after: $0) { [weak self] in self?.giveUp(number, .timedOut) } }
        queue(
          Waiting(
            number: number, items: items, isRead: isRead, unlocked: unlocked, timer: timer, continuation: continuation))
        if Task.isCancelled { giveUp(number, .cancelled) }
      }
    } onCancel: {
      giveUp(number, .cancelled)
    }
  }

  private func queue(_ waiting: Waiting) {
    let isOver = state.withLock { state in
      guard !state.isOver else { return true }
      state.queued.append(waiting)
      start(&state)
      return false
    }
    if isOver { resume(waiting, .failure(.appCancelled)) }
  }

  /// Starts a prompt, unless one is running.
  private func start(_ state: inout State) {
    guard state.running == nil, !state.queued.isEmpty else { return }
    state.running = Task(executorPreference: BackgroundThread()) { await self.run() }
  }

  private func resume(_ waiting: Waiting, _ result: Result<Allowed, VaultError>) {
    waiting.timer?.cancel()
    waiting.continuation.resume(returning: result)
  }

  /// Ends the wait of one read. Dismisses the prompt when no read waits for it any more.
  private func giveUp(_ number: Int, _ error: VaultError) {
    var unanswered: AuthenticationContext?
    let found: Waiting? = state.withLock { state in
      if let place = state.queued.firstIndex(where: { $0.number == number }) { return state.queued.remove(at: place) }
      guard let place = state.asked.firstIndex(where: { $0.number == number }) else { return nil }
      let found = state.asked.remove(at: place)
      if state.asked.isEmpty {
        if case .timedOut = error, let asking = state.asking {
          unanswered = asking
        } else {
          state.running?.cancel()
          state.running = nil
          start(&state)
        }
      }
      return found
    }
    // Report a timeout, not a cancelled call. Then prompt for the next reads.
    unanswered?.expire()
    if let found { resume(found, .failure(error)) }
  }

  // MARK: Asking

  /// Asks for the waiting reads, one prompt after another until none wait.
  private func run() async {
    var isDone = false
    while !isDone, !Task.isCancelled {
      _ = await desk.turns.run(for: program.program) { await askOnce() }
      isDone = state.withLock { state in
        guard state.queued.isEmpty, !Task.isCancelled else { return false }
        state.running = nil
        return true
      }
    }
  }

  /// Answers the waiting reads whose items a prompt has granted meanwhile.
  private func answerGranted() {
    let queued = state.withLock(\.queued)
    for waiting in queued where waiting.unlocked.isEmpty {
      let contexts = waiting.items.map(granted)
      guard let context = contexts.first ?? nil, !contexts.contains(where: { $0 == nil }) else { continue }
      let isQueued = state.withLock { state in
        guard let place = state.queued.firstIndex(where: { $0.number == waiting.number }) else { return false }
        state.queued.remove(at: place)
        return true
      }
      if isQueued { resume(waiting, .success(Allowed(context: context, released: [:]))) }
    }
  }

  private func askOnce() async {
    answerGranted()
    let batch = state.withLock { state in
      // A prompt names everything that it releases. The reads that do not fit wait for the next one.
      var items: Set<ItemID> = []
      var unlocked = 0
      state.asked = Array(
        state.queued.prefix { waiting in
          items.formUnion(waiting.items.map(\.id))
          unlocked += waiting.unlocked.count
          return items.count + unlocked <= PromptLabel.most
        })
      state.queued.removeFirst(state.asked.count)
      return state.asked
    }
    guard !batch.isEmpty else { return }
    let items = batch.flatMap(\.items).reduce(into: [SecretServiceItem]()) { items, item in
      if !items.contains(where: { $0.id == item.id }) { items.append(item) }
    }
    let result: Result<Allowed, VaultError>
    do throws(VaultError) {
      let read = Set(batch.filter(\.isRead).flatMap { $0.items.map(\.id) })
      result = .success(try await ask(for: items, releasing: read, batch.flatMap(\.unlocked)))
    } catch {
      result = .failure(error)
    }
    let numbers = Set(batch.map(\.number))
    let answered = state.withLock { state in
      defer { state.asked.removeAll { numbers.contains($0.number) } }
      return state.asked.filter { numbers.contains($0.number) }
    }
    for waiting in answered { resume(waiting, result) }
  }

  /// Asks the person for all of the items at once.
  ///
  /// - Parameter read: the items whose secrets are waited for. Only these are released.
  private func ask(
    for items: [SecretServiceItem], releasing read: Set<ItemID>, _ unlocked: [String]
  ) async throws(VaultError) -> Allowed {
    let names = PromptLabel.names(items.map(\.label))
    let reason =
      unlocked.isEmpty
      ? Text.of("read {names}", ["names": names])
      : Text.of("read {names} and unlock {collections}", ["names": names, "collections": PromptLabel.names(unlocked)])
    var inquiry = desk.inquiry(reason, program)
    inquiry.follow = { [weak self] context in self?.state.withLock { $0.asking = context } }
    do throws(VaultError) {
      return try await inquiry.converse(in: desk.store, keep: { self.keep($0, for: items) }) {
        context throws(VaultError) in
        var released: [ReleasedItem] = []
        let gated = items.filter(\.isGated)
        let wanted = gated.map(\.id).filter(read.contains)
        if wanted.count < gated.count {
          try await desk.store.authorize(gated.map(\.id), reason: reason, using: context)
        }
        if !wanted.isEmpty { released = try await desk.store.secrets(of: wanted, reason: reason, using: context) }
        // Items without their own rule need the program's. A touch that was just given for other items satisfies it as
        // well.
        if gated.count < items.count, let rule = try await rule.current() {
          try await context.evaluate(rule.access, reason: reason)
          if rule.grant == .session { desk.grant(program, rule.access) }
        }
        desk.log("Allowed, to \(reason), asked by \(program.words)")
        return Allowed(context: context, released: [ItemID: ReleasedItem](released.map { ($0.id, $0) }) { $1 })
      }
    } catch {
      desk.log("refused to \(reason), asked by \(program.words): \(error.explanation.what)")
      if error.isRefusal, !Task.isCancelled { refuse(items, error) }
      throw error
    }
  }

  private func refuse(_ items: [SecretServiceItem], _ error: VaultError) {
    let ids = items.map(\.id)
    let number = state.withLock { state in
      state.lastNumber += 1
      for id in ids { state.refusals[id] = (state.lastNumber, error) }
      return state.lastNumber
    }
    _ = LoopTimer(after: Self.briefRefusal) { [weak self] in
      self?.state.withLock { state in
        for id in ids where state.refusals[id]?.number == number { state.refusals[id] = nil }
      }
    }
  }

  private func keep(_ context: AuthenticationContext, for items: [SecretServiceItem]) {
    for item in items {
      grants.keep(context, for: item.id, lasting: Self.briefGrant)
      if item.grant == .session { desk.keepForSession(context, item.id, program) }
    }
    // The client may have disconnected meanwhile.
    if state.withLock(\.isOver) { grants.forget() }
  }
}

extension VaultError {
  /// Whether the person cancelled, or was not recognized.
  fileprivate var isRefusal: Bool {
    switch self {
    case .cancelled, .authenticationFailed, .wrongPasscode: true
    default: false
    }
  }
}
