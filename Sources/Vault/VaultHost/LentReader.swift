import Presence
import Primitives
import SDBus
import SecretModel
import Vault
import VaultItems
import VaultStore

/// A reader of the service, lent to one program that tests readers (`whorl-reader-kit test`). The program may use only the
/// prints that it has enrolled itself. It gets no picture of a finger and no template of another print on the chip, and
/// it cannot erase the chip.
///
/// It runs on the bus loop, like the object that serves it.
actor LentReader: FingerprintReader {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// How long a person has to type a password for polkit. polkit's own limit is shorter.
  private static let questionLimit = Duration.seconds(200)
  /// How long the program may wait for its turn at the reader.
  private static let turnLimit = Duration.seconds(30)
  /// How long a scan may take, or all touches of an enrolment.
  private static let scanLimit = Duration.seconds(180)
  /// How long an unused reader stays open.
  private static let idleLimit = Duration.seconds(60)

  private let desk: ReaderDesk
  private let caller: Caller
  private let sessions: any SessionGate
  private let authorize: @Sendable (Caller) async throws(VaultError) -> Void
  private var isAuthorized = false
  private var isEnded = false
  private var loan: ReaderLoan?
  /// The prints that were enrolled through this reader and not deleted, and the reader that each was enrolled on.
  private var prints: [Template: ReaderIdentity] = [:]
  /// The action that is running.
  private var action: (cancel: @Sendable () -> Void, end: Task<Void, Never>)?
  /// Why the service cancelled the action; nil if it did not.
  private var refusal: ReaderError?
  private var idle: LoopTimer?
  private var returning: Task<Void, Never>?

  /// - Parameters:
  ///   - caller: the program that tests.
  ///   - sessions: must allow each scan.
  ///   - authorize: called once, before the first reader is opened. Throws if the program may not test readers.
  init(
    of desk: ReaderDesk, to caller: Caller, under sessions: any SessionGate,
    authorize: @escaping @Sendable (Caller) async throws(VaultError) -> Void
  ) {
    self.desk = desk
    self.caller = caller
    self.sessions = sessions
    self.authorize = authorize
  }

  /// Deletes the program's prints from the chip and gives the reader back. Called when the program or the service ends.
  func end() async {
    isEnded = true
    refuse(.cancelled)
    await giveBack()
  }

  // MARK: FingerprintReader

  func readers() async throws(ReaderError) -> [ReaderDescription] {
    do throws(VaultError) { return try await desk.lendable() } catch { throw ReaderError(ofLoan: error) }
  }

  /// - Parameter user: ignored: none of these readers is fprintd's.
  func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    guard loan == nil else { throw .device("a reader is open already") }
    let (desk, caller, sessions, authorize) = (desk, caller, sessions, authorize)
    if !isAuthorized {
      try await act(within: Self.questionLimit, else: .notLent("nobody answered the question for the password")) {
        try await authorize(caller)
      }
      isAuthorized = true
    }
    let lent = try await act(within: Self.turnLimit, else: .busy(holder: "another request")) {
      try await Self.requireAllowed(caller, sessions)
      return try await desk.lend(id, to: caller)
    }
    // The program may have ended during the wait.
    guard !isEnded, loan == nil else {
      lent.end()
      throw .cancelled
    }
    loan = lent
    rest()
    return lent.description
  }

  func prepare() async throws(ReaderError) -> ReaderDescription { try await ask { try await $0.prepare() } }

  /// Leaves prints on the chip: a test unplugs the reader, and opens it again to find them. They are deleted at the end.
  func close() async throws(ReaderError) {
    idle?.cancel()
    loan?.end()
    loan = nil
  }

  func shutdown() async { await giveBack() }

  func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    let identity = try opened().description.identity
    return try await scan(observer) {
      let template = try await $0.enroll(as: finger, observer: $1)
      // Inside the action, which ends before the reader is given back.
      await self.note(template, on: identity)
      return template
    }
  }

  private func note(_ template: Template, on identity: ReaderIdentity) { prints[template] = identity }

  func identify(
    _ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    try requireOwn(prints.map(\.template))
    return try await scan(observer) { try await $0.identify(prints, nonce: nonce, observer: $1) }
  }

  func verify(
    _ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    try requireOwn([print.template])
    return try await scan(observer) { try await $0.verify(print, nonce: nonce, observer: $1) }
  }

  /// Measures a picture of a finger without returning it, since a copy of the finger could be made from it.
  func capture(
    includingImage: Bool, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> CaptureOutcome {
    guard !includingImage else { throw .notLent("the picture of a finger stays in the reader's process") }
    return try await scan(observer) { try await $0.capture(includingImage: false, observer: $1) }
  }

  /// Reports only the number of prints on the chip that this program has not enrolled.
  func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    try requireOwn(prints.map(\.template))
    var list = try await ask { try await $0.storedPrints(knowing: prints) }
    list.unknown = list.unknown.map { _ in Template(bytes: []) }
    return list
  }

  func delete(_ template: Template) async throws(ReaderError) {
    try requireOwn([template])
    try await ask { try await $0.delete(template) }
    prints[template] = nil
  }

  func clearStorage() async throws(ReaderError) {
    throw .notLent("its chip may hold the fingers of others")
  }

  func suspend() async throws(ReaderError) {
    try await ask { try await $0.suspend() }
  }

  func resume() async throws(ReaderError) {
    try await ask { try await $0.resume() }
  }

  // MARK: What is refused

  /// Refuses prints that this program has not enrolled, such as those that open a store.
  private func requireOwn(_ templates: [Template]) throws(ReaderError) {
    guard templates.allSatisfy({ prints[$0] != nil }) else { throw .notLent("the print was not enrolled in this test") }
  }

  private static func requireAllowed(_ caller: Caller, _ sessions: any SessionGate) async throws(VaultError) {
    if let refusal = await sessions.refusal(for: caller, at: .inReach) { throw .sessionRefused(refusal) }
  }

  // MARK: The loan

  private func opened() throws(ReaderError) -> ReaderLoan {
    guard let loan else { throw .device("no reader is open") }
    return loan
  }

  private func ask<T: Sendable>(
    _ question: @escaping @Sendable (any FingerprintReader) async throws -> T
  ) async throws(ReaderError) -> T {
    let loan = try opened()
    do {
      return try await loan.ask(question)
    } catch {
      throw ReaderError(ofLoan: error)
    }
  }

  private func scan<T: Sendable>(
    _ observer: @escaping ScanObserver,
    _ question: @escaping @Sendable (any FingerprintReader, @escaping ScanObserver) async throws -> T
  ) async throws(ReaderError) -> T {
    let (loan, caller, sessions) = (try opened(), caller, sessions)
    return try await act(within: Self.scanLimit, else: .notLent("the scan took too long")) {
      try await Self.requireAllowed(caller, sessions)
      return try await loan.scan(observer, question)
    }
  }

  /// Runs one action as long as the program's session allows it, and for no longer than the limit.
  private func act<T: Sendable>(
    within limit: Duration, else overdue: ReaderError, _ action: @escaping @Sendable () async throws -> T
  ) async throws(ReaderError) -> T {
    guard !isEnded else { throw .cancelled }
    guard self.action == nil else { throw .busy(holder: "this test") }
    idle?.cancel()
    refusal = nil
    let running = Task(executorPreference: BackgroundThread.shared) { try await action() }
    let end = Task(executorPreference: BackgroundThread.shared) { _ = await running.result }
    self.action = ({ running.cancel() }, end)
    let (caller, sessions) = (caller, sessions)
    let watching = Task(executorPreference: BackgroundThread.shared) { [weak self] in
      let refusal = await sessions.untilRefused(for: caller)
      if !Task.isCancelled { await self?.refuse(ReaderError(ofLoan: VaultError.sessionRefused(refusal))) }
    }
    let timer = LoopTimer(after: limit) { [weak self] in self?.assumeIsolated { $0.refuse(overdue) } }
    let result = await withTaskCancellationHandler {
      await running.result
    } onCancel: {
      running.cancel()
    }
    watching.cancel()
    timer.cancel()
    self.action = nil
    rest()
    switch result {
    case .success(let value): return value
    case .failure(let error): throw refusal ?? ReaderError(ofLoan: error)
    }
  }

  private func refuse(_ error: ReaderError) {
    guard let action else { return }
    refusal = error
    action.cancel()
  }

  /// Gives an idle reader back, so that others can use it.
  private func rest() {
    guard loan != nil else { return }
    idle = LoopTimer(after: Self.idleLimit) { [weak self] in
      Task(executorPreference: BackgroundThread.shared) { await self?.giveBack() }
    }
  }

  /// Deletes the program's prints and gives the reader back.
  private func giveBack() async {
    idle?.cancel()
    let (loan, action, earlier) = (loan, action, returning)
    self.loan = nil
    if loan != nil || action != nil || !prints.isEmpty {
      returning = Task(executorPreference: BackgroundThread.shared) {
        await earlier?.value
        await action?.end.value
        if let loan {
          await self.deletePrints(through: loan)
          loan.end()
        }
        await self.deletePrintsLeft()
      }
    }
    await returning?.value
  }

  private func deletePrints(through loan: ReaderLoan) async {
    let identity = loan.description.identity
    for template in prints.filter({ $0.value == identity }).keys {
      prints[template] = nil
      guard loan.description.features.contains(.storageDelete) else { continue }
      try? await loan.ask { try await $0.delete(template) }
    }
  }

  /// Reopens the readers that the program has closed with its own prints on their chips.
  private func deletePrintsLeft() async {
    for identity in Set(prints.values) {
      let (desk, caller) = (desk, caller)
      let lending = Task(executorPreference: BackgroundThread.shared) {
        guard let reader = try await desk.lendable().first(where: { $0.identity == identity }) else {
          throw ReaderError.absent
        }
        return try await desk.lend(reader.id, to: caller)
      }
      let timer = LoopTimer(after: Self.turnLimit) { lending.cancel() }
      if let lent = try? await lending.value {
        await deletePrints(through: lent)
        lent.end()
      }
      timer.cancel()
    }
  }
}

extension ReaderError {
  fileprivate init(ofLoan error: any Error) {
    self =
      switch error {
      case let error as ReaderError: error
      case VaultError.reader(let error): error
      case VaultError.cancelled, is CancellationError: .cancelled
      case VaultError.notAuthorized(let problem, let action): .notLent(problem.explanation(of: action).what)
      case VaultError.sessionRefused(let refusal): .notLent(refusal.words)
      case VaultError.serviceUnavailable(let why): .notLent(why)
      default: .device("\(error)")
      }
  }
}
