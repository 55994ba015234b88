import Fingerprint

/// The readers as one store uses them: which of those attached is its own, and the way to it for a request.
struct ReaderAccess {
  let store: Store
  let desk: ReaderDesk
  let gate: any SessionGate
  let arming: ArmingPolicy

  /// Claims the reader for one request. One request at a time has it, of all programs and stores of the user: the next
  /// one waits here, so that no scan can be credited to the other. `body` releases what it releases while the reader is
  /// still open: the answer does not wait for the reader to be closed.
  ///
  /// - Parameter purpose: what a touch is asked for, where the caller's session allows that; nil where none is.
  func withReader<T: Sendable>(
    for purpose: TouchRequest.Purpose?, _ context: Context, unlessLockedOut: Bool = false,
    _ body: (ReaderLease) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    if purpose != nil { try await requireAllowed(context) }
    let applicant = ReaderApplicant(caller: context.client.caller, purpose: purpose)
    let claim = try await turn(context) { [desk, lock = store.directory.scanLock] told in
      try await desk.claim(for: applicant, storeLock: lock, told: told)
    }
    do throws(VaultError) {
      if unlessLockedOut {
        // Only now is it certain how the others' scans have ended.
        let lockedOut = try store.read { moment in moment.authority.lockout.lockedOut }
        guard !lockedOut else { throw .biometryLockout }
      }
      let wanted = try await wanted(claim, context)
      try await turn(context) { told in try await claim.lock(wanted) { told(.program(nil, items: [])) } }
      let value = try await body(try await context.outcome { try await claim.open(wanted) })
      claim.end(.succeeded)
      return value
    } catch {
      let isCancelled = if case .cancelled = error { !context.fallbackIsChosen } else { false }
      claim.end(isCancelled ? .cancelled : .failed)
      throw error
    }
  }

  /// Refuses where the state of the caller's login session forbids to ask for a finger.
  func requireAllowed(_ context: Context) async throws(VaultError) {
    if let refusal = await gate.refusal(for: context.client.caller) { throw .sessionRefused(refusal) }
  }

  /// The answer to a question for which the reader waits for a finger: where the caller's session allows it, and for as
  /// long.
  func touch<T: Sendable>(
    _ context: Context, activity: Activity = Activity(), _ question: @escaping @Sendable () async throws -> T
  ) async throws(VaultError) -> T {
    try await requireAllowed(context)
    return try await context.outcome(
      activity: activity, within: arming.longestTouch, underGate: gate, of: question)
  }

  /// What is wanted of the person who reads the prompt.
  func request(for purpose: TouchRequest.Purpose, on lease: ReaderLease, passcodeInstead: Bool = false) -> TouchRequest
  {
    TouchRequest(
      purpose: purpose, reader: lease.description, passcodeInstead: passcodeInstead,
      awaitsPrompt: arming == .whenPromptStands)
  }

  /// Has the prompt for a touch shown, where the reader is armed no sooner, and waits until it stands.
  func prompt(for request: TouchRequest, _ context: Context) async throws(VaultError) {
    guard request.awaitsPrompt else { return }
    try await requireAllowed(context)
    try await context.prompt(for: request, within: ArmingPolicy.longestPrompt, underGate: gate)
  }

  /// Waits for the requests ahead of this one, which the listener is told of.
  private func turn<T: Sendable>(
    _ context: Context, _ wait: @escaping @Sendable (@escaping @Sendable (ReaderUse) -> Void) async throws -> T
  ) async throws(VaultError) -> T {
    do throws(VaultError) {
      return try await context.outcome { [events = context.events] in
        try await wait { use in events.yield(.notice(.readerInUse(use))) }
      }
    } catch .timedOut { throw .busy("another program is waiting for a finger") }
  }

  private func wanted(_ claim: ReaderClaim, _ context: Context) async throws(VaultError)
    -> ReaderDescription
  {
    if let opened = claim.opened { return opened.description }
    return try choose(from: try await context.outcome { [desk] in try await desk.reader.readers() })
  }

  /// The reader asked for by id or name, else the first that has fingers in this store.
  ///
  /// A reader that both fprintd and libfprint drive is two readers. Where nobody has named one, it is one of the kind
  /// that this store has recorded.
  func choose(from readers: [ReaderDescription]) throws(VaultError) -> ReaderDescription {
    if case .named(let device) = desk.preference {
      guard let named = readers.first(where: { $0.id == device || $0.name == device }) else { throw .reader(.absent) }
      return named
    }
    let (sets, adapter) = try store.read { moment in (try moment.enrolledSets().map(\.set), moment.authority.adapter) }
    let recorded = desk.preference == .recorded ? adapter : nil
    let eligible = readers.filter { recorded == nil || $0.identity.adapter == recorded }
    let enrolled = eligible.first { reader in sets.contains { $0.isOn(reader) } }
    guard let chosen = enrolled ?? eligible.first else { throw .reader(.absent) }
    return chosen
  }

  /// The reader that is attached now, without opening it.
  func attached() async throws(VaultError) -> ReaderDescription {
    if let held = await desk.heldReader { return held }
    let readers: [ReaderDescription]
    do { readers = try await desk.reader.readers() } catch { throw .reader(error) }
    return try choose(from: readers)
  }

  /// The readers attached, and the one that this store would use.
  func list() async -> ReaderList {
    let attached: [ReaderDescription]
    do { attached = try await desk.reader.readers() } catch {
      return ReaderList(readers: [], chosen: nil, problem: .reader(error))
    }
    do throws(VaultError) {
      return ReaderList(readers: attached, chosen: try choose(from: attached), problem: nil)
    } catch { return ReaderList(readers: attached, chosen: nil, problem: error) }
  }
}

extension EnrolmentSet {
  /// Whether these are the fingers of this reader.
  func isOn(_ other: ReaderDescription) -> Bool { reader == other.identity && nature == other.nature }
}
