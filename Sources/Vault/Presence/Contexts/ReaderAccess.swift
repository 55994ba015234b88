import Primitives
import VaultStore

/// A store's access to the readers: chooses the attached reader to use, and claims it for a request.
package struct ReaderAccess {
  let store: Store
  let desk: ReaderDesk
  let gate: any SessionGate
  let arming: ArmingPolicy
  /// The user whose fingers fprintd is asked for; nil if fprintd's unit does not accept the account's name.
  let user: ReaderUser?

  /// Claims the reader for one request, and waits while a request of any program and store has it, so that no touch is
  /// taken for another request's.
  ///
  /// - Parameter purpose: the purpose of a touch, for which the caller's session must allow one; nil if no touch is
  ///   asked for.
  func take(
    for purpose: TouchRequest.Purpose?, _ context: Context, unlessLockedOut: Bool = false
  ) async throws(VaultError) -> HeldReader {
    if purpose != nil { try await requireAllowed(context) }
    let applicant = ReaderApplicant(caller: context.client.caller, purpose: purpose, call: context.call)
    let claim = try await waiting(context) { [desk, lock = store.directory.scanLock] activity, told in
      try await desk.claim(for: applicant, storeLock: lock, activity: activity, told: told)
    }
    // Gives the reader back when it is destroyed, as at every error from here on.
    let turn = ReaderTurn(claim, in: context)
    if unlessLockedOut {
      // Check after the wait: other requests' scans may have locked fingers out.
      let lockedOut = try store.read { snapshot in snapshot.authority.lockout.lockedOut }
      guard !lockedOut else { throw .biometryLockout }
    }
    let wanted = try await wanted(claim, context)
    // Check again: only now is it known whether the lid covers this reader.
    if purpose != nil, context.readerPlace == .underLid { try await requireAllowed(context) }
    try await waiting(context) { _, told in try await claim.lock(wanted) { told(RequestAhead(use: .otherVault)) } }
    let user = try readerUser
    let lease = try await context.outcome(of: .answer) { try await claim.open(wanted, for: user) }
    return HeldReader(turn, lease)
  }

  /// Throws if the state of the caller's login session forbids asking for a finger.
  func requireAllowed(_ context: Context) async throws(VaultError) {
    let refusal = await gate.refusal(for: context.client.caller, at: context.readerPlace)
    if let refusal { throw .sessionRefused(refusal) }
  }

  /// Runs an action that waits for a finger, as long as the caller's session allows it.
  func touch<T: Sendable>(
    _ context: Context, activity: Activity = Activity(), _ question: @escaping @Sendable () async throws -> T
  ) async throws(VaultError) -> T {
    try await requireAllowed(context)
    return try await context.outcome(
      of: .finger, activity: activity, within: arming.longestTouch, underGate: gate, question)
  }

  /// The contents of the prompt.
  func request(
    for purpose: TouchRequest.Purpose, on lease: ReaderLease, _ context: Context, passcodeInstead: Bool = false
  ) -> TouchRequest {
    TouchRequest(
      purpose: purpose, reader: lease.description, passcodeInstead: passcodeInstead,
      isOnlyReader: context.readerIsAlone, awaitsPrompt: arming == .whenPromptStands)
  }

  /// If the arming policy requires it, asks for the prompt and waits until it is shown.
  func prompt(for request: TouchRequest, _ context: Context) async throws(VaultError) {
    guard request.awaitsPrompt else { return }
    try await requireAllowed(context)
    try await context.prompt(for: request, within: ArmingPolicy.longestPrompt, underGate: gate)
  }

  /// Waits for the requests ahead of this one, and reports them to the listener.
  private func waiting<T: Sendable>(
    _ context: Context,
    _ wait: @escaping @Sendable (Activity, @escaping @Sendable (RequestAhead) -> Void) async throws -> T
  ) async throws(VaultError) -> T {
    defer { context.ahead.clear() }
    // While others have their turns, the wait goes on: only one that does not end runs into the context's timeout.
    let activity = Activity()
    return try await context.outcome(of: .turn, activity: activity) {
      [events = context.events, ahead = context.ahead] in
      try await wait(activity) { ahead.tell($0, through: events) }
    }
  }

  private func wanted(_ claim: ReaderClaim, _ context: Context) async throws(VaultError)
    -> ReaderDescription
  {
    if let opened = claim.opened { return opened.description }
    let adapter = try recordedAdapter
    let attached = try await context.outcome(of: .answer) { [desk] in try await desk.readers(drivenBy: adapter) }
    let chosen = try choose(from: attached, drivenBy: adapter)
    context.readerIsAlone = chosen.isAlone(among: attached)
    context.readerPlace = chosen.place(among: attached)
    return chosen
  }

  private var readerUser: ReaderUser {
    get throws(VaultError) {
      guard let user else {
        throw .reader(.cannotStart("the name of this account has characters that the reader's process does not take"))
      }
      return user
    }
  }

  /// The adapter of the readers that this store chooses from; nil: any.
  private var recordedAdapter: ReaderAdapter? {
    get throws(VaultError) {
      guard desk.preference == .recorded else { return nil }
      return try store.read { snapshot in snapshot.authority.adapter }
    }
  }

  /// The reader with the preferred id or name, else the first that has fingers in this store.
  ///
  /// A reader that both fprintd and libfprint drive is listed twice. If none is named, the adapter that this store has
  /// recorded decides.
  ///
  /// - Parameter recorded: the adapter that the store has recorded.
  func choose(
    from readers: [ReaderDescription], drivenBy recorded: ReaderAdapter?
  ) throws(VaultError) -> ReaderDescription {
    if case .named(let device) = desk.preference {
      guard let named = readers.first(where: { $0.id == device || $0.name == device }) else { throw .reader(.absent) }
      return named
    }
    let sets = try store.read { snapshot in try snapshot.enrolledSets().map(\.set) }
    let eligible = readers.filter { recorded == nil || $0.identity.adapter == recorded }
    let enrolled = eligible.first { reader in sets.contains { $0.isOn(reader) } }
    guard let chosen = enrolled ?? eligible.first else { throw .reader(.absent) }
    return chosen
  }

  /// The attached reader to use. Does not open it.
  func attached() async throws(VaultError) -> ReaderDescription { try await attachedAndPlace().reader }

  /// Like ``attached()``, with the place of the reader.
  func attachedAndPlace() async throws(VaultError) -> (reader: ReaderDescription, place: ReaderPlace) {
    if let held = await desk.heldReader { return (held, .inReach) }
    let adapter = try recordedAdapter
    let readers = try await desk.readers(drivenBy: adapter)
    let chosen = try choose(from: readers, drivenBy: adapter)
    return (chosen, chosen.place(among: readers))
  }

  /// The attached readers, and the one that this store would use.
  package func list() async -> ReaderList {
    let attached: [ReaderDescription]
    do throws(VaultError) { attached = try await desk.readers(drivenBy: nil) } catch {
      return ReaderList(readers: [], chosen: nil, problem: error)
    }
    do throws(VaultError) {
      return ReaderList(readers: attached, chosen: try choose(from: attached, drivenBy: recordedAdapter), problem: nil)
    } catch {
      return ReaderList(readers: attached, chosen: nil, problem: await failureToAttach() ?? error)
    }
  }

  /// The error of listing the readers that this store may use; nil if they can be listed.
  private func failureToAttach() async -> VaultError? {
    do throws(VaultError) {
      _ = try await attached()
      return nil
    } catch { return error }
  }
}

extension ReaderDescription {
  /// fprintd's readers count as in reach: fprintd does not say which are built in.
  fileprivate func place(among attached: [ReaderDescription]) -> ReaderPlace {
    identity.fixedPort != nil && isAlone(among: attached) ? .underLid : .inReach
  }

  /// A reader that both fprintd and libfprint drive is listed twice.
  fileprivate func isAlone(among attached: [ReaderDescription]) -> Bool {
    attached.allSatisfy { $0 == self || $0.identity.adapter != identity.adapter }
  }
}

extension EnrolmentSet {
  /// Whether these are the fingers of this reader.
  func isOn(_ other: ReaderDescription) -> Bool { reader == other.identity && nature == other.nature }
}
