// ReaderClient: the vault's side of a reader process. Begin with `ReaderProcess`, a `FingerprintReader` that starts the
// process; `ReaderSession` is one connection to it, `ReaderUnits` the readers of the system,
// `RecordingFolder` a recorded reader.

internal import Glibc
package import Primitives
internal import Processes
internal import ReaderBus
internal import SDBus
internal import Synchronization

/// The readers of a disposable `whorl-reader` process: a child of this process, a system unit that systemd starts on
/// connection, or a process that the system service lends.
///
/// A child is started by the first call, and ended by ``shutdown()`` or when this object is deallocated. If it dies,
/// running calls throw ``ReaderError/processDied(_:)``, and the next call starts a new one, in which no reader is open.
///
/// A cancelled call returns at once. If the reader does not end the scan within half a second, its process is ended,
/// because libfprint cannot be interrupted while it compares prints. An enrolment has five seconds. The next call waits
/// for that.
///
/// The process is started on the bus loop's own thread, which never ends, because the kernel kills a reader process
/// when the thread that started it ends.
package actor ReaderProcess: FingerprintReader {
  /// The time a reader has to end a cancelled scan.
  private static let cancelGrace = Duration.milliseconds(500)
  /// The time it has to end a cancelled enrolment, and to delete the finger if the enrolment had succeeded already.
  private static let enrolmentCancelGrace = Duration.seconds(5)
  /// The time a reader has to close. Ending the process closes it in any case.
  private static let closeGrace = Duration.seconds(3)
  /// The time a process has to release its reader before it is killed.
  private static let endGrace = Duration.seconds(1)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// The limit for answers that need no finger. Some readers take seconds to open or to list their prints. The limit for
  /// the first answer is twice as long, since the process, and perhaps fprintd, must first be started, on a slow machine
  /// from the disk. So is the one of ``prepare()``: up to ten seconds are spent waiting for other programs, and a reader
  /// that starts cold has taken fprintd twenty seconds.
  package static let answerLimit = Duration.seconds(30)

  private let selection: ReaderSelection
  private let user: ReaderUser
  private let fprintd: FprintdPlace
  private let start: @Sendable () throws(ReaderError) -> ReaderSession
  /// The limit for answers that need no finger; nil if the peer may ask a person first.
  private let limit: Duration?
  private let origin: Origin
  private enum Origin {
    case child
    /// A system unit. It may end by itself when unused, and serves one connection at a time.
    case unit
    /// A lent reader. The loan ends with its connection and cannot be reconnected.
    case lent
  }
  private var session: ReaderSession?
  private var settling: Task<Void, Never>?
  private var lastNumber: UInt64 = 0

  /// - Parameters:
  ///   - program: the full path of `whorl-reader`, as found by `HelperPlaces`.
  ///   - selection: the readers that the process may use.
  ///   - showsDiagnostics: whether libfprint's messages go to the standard error of this process.
  ///   - fprintd: where fprintd is, for a selection that may use it.
  ///   - trace: the device whose traffic is logged, and the file of the log.
  ///   - systemBus: the address of the system bus; tests use another one.
  package init(
    program: String, selection: ReaderSelection, showsDiagnostics: Bool = false, fprintd: FprintdPlace = .system,
    trace: ReaderTrace? = nil, systemBus: String? = nil
  ) {
    self.selection = selection
    self.fprintd = fprintd
    user = .own
    limit = Self.answerLimit
    origin = .child
    start = { () throws(ReaderError) -> ReaderSession in
      let command = try ReaderCommand(
        program: program, selection: selection, fprintd: fprintd, trace: trace, systemBus: systemBus)
      let buses = BusSockets(to: [fprintd.bus, systemBus ?? FprintdPlace.system.bus])
      return try ReaderSession(command, buses: buses, showsDiagnostics: showsDiagnostics)
    }
  }

  /// The readers of a unit. Each connection to its socket gets a process of its own, one after the other.
  ///
  /// - Parameters:
  ///   - unit: the full path of the unit's socket, ``ReaderUnits/socket(of:in:)``.
  ///   - selection: the readers that the unit was configured for. Others are ignored.
  ///   - user: the user for calls that name none.
  ///   - fprintd: where fprintd is, for the unit that uses it.
  ///   - maker: the owner of the socket: root, since systemd makes it. Tests make their own.
  ///   - limit: the limit for answers that need no finger; tests use a shorter one.
  package init(
    unit: String, selection: ReaderSelection, user: ReaderUser = .own, fprintd: FprintdPlace = .system,
    maker: UInt32 = 0, answersWithin limit: Duration = answerLimit
  ) {
    self.selection = selection
    self.user = user
    self.fprintd = fprintd
    self.limit = limit
    origin = .unit
    start = { () throws(ReaderError) -> ReaderSession in
      try ReaderSession(Self.connected(to: UnitPath(unit, madeBy: maker)), called: unit, end: "the unit ended")
    }
  }

  private static func connected(to unit: UnitPath) throws(ReaderError) -> Int32 {
    do throws(UnitPathError) { return try unit.connect() } catch { throw .cannotStart(error.words) }
  }

  /// The readers that the system service lends on this socket. Takes ownership of it.
  ///
  /// - Parameter selection: the readers to use.
  package init(lent socket: Int32, selection: ReaderSelection) {
    self.selection = selection
    fprintd = .system
    user = .own
    limit = nil
    origin = .lent
    let socket = LentSocket(socket)
    start = { () throws(ReaderError) -> ReaderSession in
      guard let descriptor = socket.take() else {
        throw .processDied("the system service has ended the loan of its reader")
      }
      return try ReaderSession(
        descriptor, called: "the system service", end: "the system service took its reader back")
    }
  }

  deinit {
    _ = session?.end(grace: Self.endGrace)
  }

  /// Ends the process and waits until it has ended. A later call starts a new one. A lent reader is only closed; the
  /// loan lasts until this object is deallocated.
  package func shutdown() async {
    await settled()
    if case .lent = origin {
      try? await close()
      return
    }
    guard let session else { return }
    self.session = nil
    _ = await session.end(grace: Self.endGrace).value
  }

  // MARK: FingerprintReader

  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    guard case .readers(let readers) = try await perform(.readers) else { throw await broken() }
    // Ignore readers that the process was not started for.
    let expected = readers.filter { isExpected($0) }
    guard let device = selection.device else { return expected }
    return expected.filter { $0.id == device || $0.name == device }
  }

  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    guard case .reader(let reader) = try await perform(.open(id, user == .own ? self.user : user)) else {
      throw await broken()
    }
    guard reader.id == id, isExpected(reader) else { throw await broken() }
    return reader
  }

  package func prepare() async throws(ReaderError) -> ReaderDescription {
    guard case .reader(let reader) = try await perform(.prepare), isExpected(reader) else { throw await broken() }
    return reader
  }

  /// Releases the open reader, even if the task is cancelled. If that fails, the process is ended.
  package func close() async throws(ReaderError) {
    await settled()
    guard let session, !session.isOver else { return }
    try await release(session)
  }

  private func release(_ session: ReaderSession) async throws(ReaderError) {
    switch await session.answers(.close, number: number(), within: min(Self.closeGrace, limit ?? Self.closeGrace)) {
    // A unit serves its next client, perhaps another user's vault, when this connection has ended.
    case .success: if case .unit = origin { await end(session) }
    case .failure(let error):
      await end(session)
      if case .remote(let name, let text, _) = error { throw ReaderError(busName: name, text: text) }
    case nil: await end(session)
    }
  }

  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    guard case .template(let template) = try await perform(.enroll(finger), observer: observer) else {
      throw await broken()
    }
    return template
  }

  package func identify(
    _ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    try await scan(.identify(prints, nonce), nonce: nonce, among: prints, observer: observer)
  }

  package func verify(
    _ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    try await scan(.verify(print, nonce), nonce: nonce, among: [print], observer: observer)
  }

  package func capture(
    includingImage: Bool, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> CaptureOutcome {
    guard
      case .capture(let outcome) = try await perform(.capture(includingImage: includingImage), observer: observer)
    else { throw await broken() }
    return outcome
  }

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    guard case .chip(let list) = try await perform(.storedPrints(prints)) else { throw await broken() }
    return list
  }

  package func delete(_ template: Template) async throws(ReaderError) {
    _ = try await perform(.delete(template))
  }

  package func clearStorage() async throws(ReaderError) {
    _ = try await perform(.clearStorage)
  }

  package func suspend() async throws(ReaderError) {
    _ = try await perform(.suspend)
  }

  package func resume() async throws(ReaderError) {
    _ = try await perform(.resume)
  }

  /// Whether a process that was started for this selection may offer such a reader.
  private func isExpected(_ reader: ReaderDescription) -> Bool {
    let adapter = reader.identity.adapter
    // The id is used to open a reader, the identity to find its fingers: both must have the same adapter.
    guard ReaderAdapter(ofReader: reader.id) == adapter else { return false }
    // The administrator has selected the service's readers.
    if case .lent = origin { return adapter.opensDevice }
    guard selection.adapter == nil || selection.adapter == adapter else { return false }
    return reader.nature == (adapter.opensDevice ? selection.nature : fprintd.nature)
  }

  // MARK: Questions and answers

  /// Accepts an answer only if it has the nonce of the call and one of its prints.
  private func scan(
    _ request: ReaderRequest, nonce: ScanNonce, among prints: [EnrolledPrint], observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    guard case .scan(let answer) = try await perform(request, observer: observer), answer.nonce == nonce else {
      throw await broken()
    }
    if case .match(let id) = answer.outcome, !prints.contains(where: { $0.id == id }) { throw await broken() }
    return answer
  }

  private func perform(
    _ request: ReaderRequest, observer: ScanObserver? = nil
  ) async throws(ReaderError) -> ReaderAnswer {
    await settled()
    guard !Task.isCancelled else { throw .cancelled }
    let wasRunning = session
    let session = try await runningSession()
    let number = number()
    let values: [BusValue]
    do throws(BusError) {
      let limit = if case .prepare = request { limit.map { $0 * 2 } } else { nextLimit }
      values = try await session.call(
        request, number: number, observer: observer, within: observer == nil ? limit : nil)
    } catch {
      // The unit was about to end. Try again, since no reader was open there.
      if [.disconnected, .notSent].contains(error), case .unit = origin, session === wasRunning,
        request.needsNoOpenReader
      {
        return try await perform(request, observer: observer)
      }
      throw await explained(error, of: request, session, number)
    }
    guard let answer = ReaderAnswer(to: request, values) else { throw await broken() }
    return answer
  }

  /// The limit for the next answer that needs no finger.
  package var nextLimit: Duration? { limit.map { session?.hasAnswered == true ? $0 : $0 * 2 } }

  private func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  private func explained(
    _ error: BusError, of request: ReaderRequest, _ session: ReaderSession, _ number: UInt64
  ) async -> ReaderError {
    switch error {
    case .cancelled:
      settle(request, session, number)
      return .cancelled
    case .remote(let name, let text, _): return ReaderError(busName: name, text: text)
    case .disconnected, .notSent: return .processDied(await end(session))
    case .system(ETIMEDOUT):
      await end(session, grace: .zero)
      return .processDied("it did not answer in time, and was ended")
    case .tooLarge: return .device("too many prints for one request")
    case .malformed, .system: return .device("the request could not be sent")
    }
  }

  /// Ends a process whose answer does not belong to the call.
  private func broken() async -> ReaderError {
    guard let session else { return .processDied("sent an answer that does not belong to the request") }
    self.session = nil
    _ = await session.end(grace: .zero).value
    return .processDied("sent an answer that does not belong to the request, and was ended")
  }

  // MARK: The process

  private func runningSession() async throws(ReaderError) -> ReaderSession {
    if let session, !session.isOver { return session }
    await BusLoop.shared.continueOnOwnThread()
    if let session, !session.isOver { return session }
    let started = try start()
    session = started
    return started
  }

  @discardableResult
  private func end(_ ended: ReaderSession, grace: Duration = endGrace) async -> String {
    if session === ended { session = nil }
    return await ended.end(grace: grace).value
  }

  /// Waits for the end of a cancelled call, while its caller continues.
  private func settle(_ request: ReaderRequest, _ session: ReaderSession, _ number: UInt64) {
    let previous = settling
    settling = Task(executorPreference: BackgroundThread.shared) {
      await previous?.value
      let grace = if case .enroll = request { Self.enrolmentCancelGrace } else { Self.cancelGrace }
      if await session.answers(.cancel, number: number, within: grace) == nil {
        await self.end(session, grace: .zero)
      } else {
        await self.undo(request, session)
      }
    }
  }

  /// Undoes a call that the process had answered before it read the cancellation. An enrolment is undone by the process
  /// itself.
  private func undo(_ request: ReaderRequest, _ session: ReaderSession) async {
    switch request {
    case .open: try? await release(session)
    case .suspend:
      if await session.answers(.resume, number: number(), within: Self.closeGrace) == nil {
        await end(session, grace: .zero)
      }
    default: break
    }
  }

  private func settled() async {
    while let current = settling {
      await current.value
      if settling == current { settling = nil }
    }
  }
}

/// A socket that is used once.
private final class LentSocket: Sendable {
  private let descriptor: Mutex<Int32?>

  init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

  deinit { if let descriptor = take() { Glibc.close(descriptor) } }

  func take() -> Int32? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }
}

extension ReaderRequest {
  /// Whether a newly started process can answer it.
  fileprivate var needsNoOpenReader: Bool {
    switch self {
    case .readers, .open: true
    default: false
    }
  }
}
