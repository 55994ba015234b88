package import Primitives
internal import ReaderBus
internal import SDBus

/// The readers of fprintd as a ``FingerprintReader``, with the fingers that a user has enrolled there.
///
/// fprintd keeps the prints, does the matching, and reports only that a finger matched. A ``Template`` is therefore a
/// ``FprintdPrint``, and ``identify(_:nonce:observer:)`` asks for any of the user's fingers only if all of them are
/// among the given prints.
///
/// fprintd lets one program at a time claim a reader. This actor claims it before the first scan and keeps it until the
/// reader is closed (``FprintdHold``); listing fingers needs no claim. If another program, such as login, `sudo` or the
/// settings, has the reader, this one waits.
package actor FprintdReader: FingerprintReader {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let place: FprintdPlace
  private let sockets: any BusSocketSource
  /// Looked up before the process is confined.
  private let ownUser: String?
  private lazy var connector = FprintdConnector(place, through: sockets) { [weak self] event in
    self?.assumeIsolated { $0.receive(event) }
  }
  private lazy var hold = FprintdHold(connector)
  private var opened: FprintdOpenReader?
  private var running: FprintdAction?
  /// The last action that was started. Its last signals may come when it has ended here.
  private var started: FprintdAction?
  private var isOpening = false
  /// How often ``close()`` was called. An opening that it ends is not tried again.
  private var closes = 0
  private var isSuspended = false
  private var fingerWatch: FprintdFingerWatch?
  private var templateWatch: FprintdTemplateWatch?

  /// - Parameter sockets: makes the connection to fprintd's bus.
  package init(at place: FprintdPlace, through sockets: any BusSocketSource) {
    self.place = place
    self.sockets = sockets
    ownUser = FprintdTemplates.ownUser
  }

  // MARK: Readers

  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    let readers = try await askedAgain { () async throws(ReaderError) in
      try await connected().devices(place.nature).map(\.description)
    }
    // fprintd ignores a reader that another program opened at the moment it was plugged in, until fprintd ends.
    if readers.isEmpty, place.nature == .physical, let missed = SupportedUSBReaders.attached(besides: []) {
      throw .missedByFprintd(missed.identifier)
    }
    return readers
  }

  /// Asks a second time if fprintd ends meanwhile: it does half a minute after its last client, and the bus then starts
  /// another.
  private func askedAgain<Answer: Sendable>(
    _ ask: () async throws(ReaderError) -> Answer
  ) async throws(ReaderError) -> Answer {
    let before = closes
    do throws(ReaderError) {
      return try await ask()
    } catch .processDied where closes == before && !Task.isCancelled {
      return try await ask()
    }
  }

  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    guard opened == nil, !isOpening else { throw .device("a reader is open already") }
    isOpening = true
    defer { isOpening = false }
    let name = if case .named(let name) = user { name.text } else { ownUser }
    let templates = FprintdTemplates(of: name, in: place.templates)
    watch(templates)
    let device = try await askedAgain { () async throws(ReaderError) in
      await hold.ended()
      let devices = try await connected().devices(place.nature)
      guard let device = devices.first(where: { $0.description.id == id }) else { throw .absent }
      return device
    }
    guard !Task.isCancelled else { throw .cancelled }
    opened = FprintdOpenReader(
      path: device.path, description: device.description, tellsFingers: device.tellsFingers, user: user,
      templates: templates)
    return device.description
  }

  package func prepare() async throws(ReaderError) -> ReaderDescription {
    _ = try openDevice()
    try await askedAgain { () async throws(ReaderError) in
      await hold.ended()
      // Nothing is claimed yet, so a new fprintd in the place of an earlier one is as good.
      _ = try await claim(over: try await connector.connected(isOpen: false)) { false }
    }
    return try openDevice().description
  }

  /// The claim of the open reader, taken if there is none.
  ///
  /// - Parameter isOver: returns whether the claim is no longer wanted.
  private func claimed(unless isOver: () -> Bool = { false }) async throws(ReaderError) -> FprintdClaim {
    await hold.ended()
    if let claim = await hold.current() { return claim }
    return try await claim(over: try await connected(), unless: isOver)
  }

  private func claim(
    over link: FprintdConnection, unless isOver: () -> Bool
  ) async throws(ReaderError) -> FprintdClaim {
    guard let device = opened else { throw .cancelled }
    let before = closes
    let devices = try await link.devices(place.nature)
    guard let found = devices.first(where: { $0.description.id == device.description.id }) else { throw .removed }
    let namesakes = await link.namesakes(of: found, among: devices, for: device.user)
    let claim = try await hold.take(
      firstFreeOf: namesakes.map { FprintdClaim(path: $0.path, user: device.user, link: link) }, unless: isOver)
    // Some readers report the number of stages only while claimed.
    let properties = try await link.properties(of: claim.path)
    guard closes == before else {
      await hold.release()
      throw .cancelled
    }
    opened = FprintdOpenReader(
      path: claim.path,
      description: ReaderDescription(fprintd: found.description.name, properties, nature: place.nature),
      tellsFingers: properties.tellsFingers, user: device.user, templates: device.templates)
    return claim
  }

  package func close() async throws(ReaderError) {
    closes += 1
    if isOpening { await connector.drop() }
    await end(with: .cancelled)
    await hold.release()
    opened = nil
    fingerWatch = nil
    isSuspended = false
  }

  package func shutdown() async {
    try? await close()
    await connector.drop()
    templateWatch?.end()
    templateWatch = nil
  }

  /// Makes a call that needs the claim.
  private func callClaimed(_ member: String, _ arguments: [BusValue] = []) async throws(ReaderError) {
    _ = try openDevice()
    let claim = try await claimed()
    try await claim.link.call(claim.path, FprintdNames.device, member, arguments)
  }

  // MARK: Scans

  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    guard let finger else { throw .notSupported }
    // fprintd would replace an existing print of this finger before the new one is confirmed.
    guard try await enrolledPrints().allSatisfy({ $0.finger != finger }) else { throw .duplicate }
    _ = try await claimed()
    let stages = try openDevice().description.enrollStages
    let stage = StageCount()
    do throws(ReaderError) {
      let enrolment = FprintdAction(.enroll) { status in
        guard let event = stage.event(of: status, below: stages) else { return true }
        observer(event)
        return false
      }
      let status = try await run(enrolment, finger.fprintdName, observer)
      switch status.word {
      case .completed: break
      case .failed(let error): throw error
      default: throw .device("fprintd ended the enrolment without a result")
      }
      observer(.stage(completed: stages, of: stages))
      guard let print = try await enrolledPrints().first(where: { $0.finger == finger }) else {
        throw .device("fprintd does not list the finger it has enrolled")
      }
      guard !Task.isCancelled else { throw .cancelled }
      return print.template
    } catch {
      // fprintd may have stored the print already. Delete it, or a finger that nobody asked to enrol would open items.
      await Task(executorPreference: LoopTasks.shared) { try? await self.forget(finger) }.value
      throw error
    }
  }

  package func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    let before = try await enrolledPrints()
    let search = try FprintdSearch(for: try living(prints, before), among: before)
    let changes = templateWatch?.changesUpToNow()
    let verification = FprintdAction(.verify, for: search) { _ in true }
    let end = try await run(verification, search.finger?.fprintdName ?? FprintdNames.anyFinger, observer)
    let outcome: ScanOutcome
    switch end.word {
    case .match:
      // The reader is claimed, so fprintd enrols nothing during the scan. But another program could write its files.
      let after = try await enrolledPrints()
      guard after == before, templateWatch?.changesUpToNow() == changes else { throw .printsChanged }
      guard let selected = end.selected else { throw .device("fprintd does not say which finger it looked for") }
      outcome = .match(try search.print(ifLookingFor: selected))
    case .noMatch: outcome = .noMatch
    case .retry(let reason):
      observer(.retry(reason))
      outcome = .retry(reason)
    case .failed(let error): throw error
    case .completed, .stagePassed: throw .device("fprintd ended the scan without an answer")
    }
    guard !Task.isCancelled else { throw .cancelled }
    return ScanAnswer(nonce: nonce, outcome: outcome, finishedAt: end.at)
  }

  package func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await identify([print], nonce: nonce, observer: observer)
  }

  // MARK: Prints

  private func watch(_ templates: FprintdTemplates) {
    guard let user = templates.user, templateWatch?.user != user else { return }
    templateWatch?.end()
    templateWatch = FprintdTemplateWatch(root: templates.root, user: user) { [weak self] in
      self?.assumeIsolated { $0.filesChanged() }
    }
  }

  /// Ends the scan if one of its prints no longer exists.
  private func filesChanged() {
    guard let running, running.kind == .verify else { return }
    running.end(.failed(.printsChanged))
  }

  /// The user's fingers on the open reader, with digests if fprintd's files can be read.
  private func enrolledPrints() async throws(ReaderError) -> [FprintdPrint] {
    let device = try openDevice()
    let link = try await connected()
    return device.templates.prints(of: try await link.fingers(on: device.path, of: device.user))
  }

  /// The prints that fprintd still has.
  private func living(_ prints: [EnrolledPrint], _ now: [FprintdPrint]) throws(ReaderError) -> [FprintdSearch.Wanted] {
    try FprintdSearch.living(of: prints, among: now, files: try openDevice().templates.folder ?? place.templates)
  }

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    let now = try await enrolledPrints()
    // The known print has no digest, but the file can be read now. Treat it as another print.
    let living = try living(prints, now).filter { one in now.contains { $0 == one.print } }
    let known = Set(living.map(\.print.finger))
    return ChipList(
      present: Set(living.map(\.id)), unknown: now.filter { !known.contains($0.finger) }.map(\.template))
  }

  package func delete(_ template: Template) async throws(ReaderError) {
    guard let print = FprintdPrint(template) else { throw .badTemplate }
    let now = try await enrolledPrints()
    let wanted = EnrolledPrint(id: EnrolmentID(bytes: []), template: template)
    guard try living([wanted], now).count == 1 else { throw .notOnChip }
    try await delete(print.finger)
  }

  private func forget(_ finger: Finger) async throws(ReaderError) {
    guard try await enrolledPrints().contains(where: { $0.finger == finger }) else { return }
    try await delete(finger)
  }

  private func delete(_ finger: Finger) async throws(ReaderError) {
    do throws(ReaderError) {
      try await callClaimed("DeleteEnrolledFinger", [.string(finger.fprintdName)])
    } catch .removed {
      // Also the error for a call that a service in fprintd's place does not have. open-fprintd has no such call.
      try await checkPresence()
      guard try await enrolledPrints().allSatisfy({ $0.finger == finger }) else { throw .deletesOnlyAllFingers }
      try await clearStorage()
    }
  }

  /// Deletes every print of this user.
  package func clearStorage() async throws(ReaderError) {
    try await callClaimed("DeleteEnrolledFingers2")
  }

  // MARK: Sleep

  /// Ends the action, and with it the claim. fprintd suspends the reader by itself.
  package func suspend() async throws(ReaderError) {
    guard opened != nil, !isSuspended else { return }
    isSuspended = true
    await end(with: .suspended)
    // fprintd suspends the reader at the same moment, and may then stop the scan only after the sleep, or never.
    await hold.release(within: .seconds(1))
  }

  package func resume() async throws(ReaderError) { isSuspended = false }

  // MARK: Actions

  private func openDevice() throws(ReaderError) -> FprintdOpenReader {
    guard let opened else { throw .device("no reader is open") }
    guard !isSuspended else { throw .suspended }
    guard running == nil else { throw .busy(holder: nil) }
    guard !Task.isCancelled else { throw .cancelled }
    return opened
  }

  /// Starts the only action that the reader can run at a time, and always stops it: at its last status, when the task
  /// is cancelled, and when the machine goes to sleep.
  private func run(
    _ action: FprintdAction, _ argument: String, _ observer: @escaping ScanObserver
  ) async throws(ReaderError) -> FprintdAction.Status {
    let device = try openDevice()
    running = action
    fingerWatch = FprintdFingerWatch(observer: observer, isTold: device.tellsFingers)
    let end = await withTaskCancellationHandler {
      let claim: FprintdClaim
      do throws(ReaderError) {
        claim = try await claimed { action.hasEnded }
      } catch {
        return action.endedBefore ?? (error == .cancelled ? .cancelled : .failed(error))
      }
      // Start and stop run to their end even if the task is cancelled. Otherwise fprintd would keep the action running.
      return await Task(executorPreference: LoopTasks.shared) {
        await self.carryOut(action, claim, argument)
      }.value
    } onCancel: {
      BusLoop.shared.post { action.end(.cancelled) }
    }
    fingerWatch?.scanEnded(touched: end.showsTouch)
    running = nil
    action.finish()
    let status = try end.status
    // For a reader that was unplugged, fprintd often reports only an unknown error.
    if case .failed(.device) = status.word { try await checkPresence() }
    return status
  }

  /// How many times to check whether fprintd still lists a reader that it does not release, and the pause between.
  private static let looks = (count: 10, pause: Duration.milliseconds(100))

  /// Throws if the reader was unplugged, or fprintd does not release it. fprintd still lists a reader that is gone while it
  /// is claimed, because libfprint keeps it until it is closed.
  private func checkPresence() async throws(ReaderError) {
    guard let device = opened, let link = await connector.link else { return }
    let isOver = await link.isOver
    guard !isOver || hold.isRefused else { return }
    await hold.release()
    // The connection is closed then, and fprintd closes the reader after that.
    let isRefused = hold.isRefused
    for look in 0..<(isRefused ? Self.looks.count : 1) {
      if look > 0 { try? await Pause.wait(for: Self.looks.pause) }
      guard let link = try? await connector.connected(isOpen: false),
        let listed = try? await link.call(FprintdNames.managerPath, FprintdNames.manager, "GetDevices").first?.asArray
      else { break }
      guard listed.contains(where: { $0.asObjectPath == device.path }) else {
        opened = nil
        throw .removed
      }
    }
    guard isRefused else { return }
    throw .device(
      "its driver has failed, and fprintd does not release it: attach it anew, or restart fprintd "
        + "(sudo systemctl restart fprintd)")
  }

  /// Ends the running action, and a claim that is being made.
  private func end(with end: FprintdAction.End) async {
    running?.end(end)
    await hold.giveUpTaking()
    await running?.over()
  }

  private func carryOut(_ action: FprintdAction, _ claim: FprintdClaim, _ argument: String) async -> FprintdAction.End {
    started = action
    action.begin()
    do throws(ReaderError) {
      try await claim.start(action.kind, argument)
    } catch {
      await hold.release()
      return .failed(error)
    }
    // fprintd may have said that it looks for something else.
    if !action.hasEnded { fingerWatch?.scanStarted() }
    let end = await action.ended()
    // Stopping sets `finger-needed` to false, which is no touch.
    fingerWatch?.scanEnded(touched: end.showsTouch)
    hold.stop(action, keepingClaim: end.leavesReaderUsable, isTold: opened?.tellsFingers ?? true)
    return end
  }

  private func connected() async throws(ReaderError) -> FprintdConnection {
    try await connector.connected(isOpen: opened != nil)
  }

  private func receive(_ event: FprintdConnection.Event) {
    switch event {
    case .signal(let path, let member, let arguments):
      guard path == opened?.path else { return }
      started?.receive(member, arguments)
    case .changed(let path, let properties):
      guard path == opened?.path else { return }
      fingerWatch?.changed(
        needed: properties[FprintdNames.fingerNeeded]?.asBoolean,
        present: properties[FprintdNames.fingerPresent]?.asBoolean)
    case .over:
      running?.end(.failed(.processDied(FprintdConnection.ended)))
    }
  }
}
