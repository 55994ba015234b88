internal import Executors
package import Fingerprint
internal import ReaderBus
internal import SDBus

/// The readers of fprintd as a ``FingerprintReader``, with the fingers that a user has enrolled there.
///
/// fprintd keeps the prints, does the matching, and reports only that a finger matched. A ``Template`` is therefore a
/// ``FprintdPrint``, and ``identify(_:nonce:observer:)`` asks for any of the user's fingers only if all of them are
/// among the given prints.
///
/// fprintd lets one program at a time claim a reader. This actor claims it only during an action, so that login, `sudo`
/// and the settings can use it in between. If one of them has it, the action waits.
package actor FprintdReader: FingerprintReader {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let place: FprintdPlace
  private let sockets: any BusSocketSource
  /// Looked up before the process is confined.
  private let ownUser: String?
  private lazy var connector = FprintdConnector(place, through: sockets) { [weak self] event in
    self?.assumeIsolated { $0.receive(event) }
  }
  private var opened: FprintdOpenReader?
  /// The task that releases the last action's claim. The action's answer does not wait for it.
  private var releasing: Task<Void, Never>?
  private var running: FprintdAction?
  private var isOpening = false
  /// How often ``close()`` was called. An opening that it ends is not tried again.
  private var closes = 0
  private var isSuspended = false
  private var fingerWatch: FprintdFingerWatch?
  private var templateWatch: FprintdTemplateWatch?
  /// The number of changes of the template files since this process started.
  private var fileChanges = 0

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
    return try await askedAgain { () async throws(ReaderError) in try await claimOnce(id, for: user, templates) }
  }

  /// Claims the reader and releases it, to see that it can be used.
  private func claimOnce(
    _ id: String, for user: ReaderUser, _ templates: FprintdTemplates
  ) async throws(ReaderError) -> ReaderDescription {
    await released()
    let link = try await connected()
    let devices = try await link.devices(place.nature)
    guard let device = devices.first(where: { $0.description.id == id }) else { throw .absent }
    do throws(ReaderError) {
      let namesakes = await link.namesakes(of: device, among: devices, for: user)
      let claim = try await FprintdClaim.takeFirstFree(
        of: namesakes.map { FprintdClaim(path: $0.path, user: user, link: link) }
      ) { false }
      // Some readers report the number of stages only while claimed.
      let properties = try await link.properties(of: claim.path)
      await claim.release()
      let description = ReaderDescription(fprintd: device.description.name, properties, nature: place.nature)
      guard !Task.isCancelled else { throw .cancelled }
      opened = FprintdOpenReader(
        path: claim.path, description: description, tellsFingers: properties.tellsFingers, user: user,
        templates: templates)
      return description
    } catch {
      // Close the connection, so that fprintd releases a claim whose call was cancelled.
      await connector.drop()
      throw error
    }
  }

  package func close() async throws(ReaderError) {
    closes += 1
    if isOpening { await connector.drop() }
    if let running {
      running.end(.cancelled)
      await running.over()
    }
    await released()
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

  /// Claims the reader for one call.
  private func callClaimed(_ member: String, _ arguments: [BusValue] = []) async throws(ReaderError) {
    let device = try openDevice()
    await released()
    let link = try await connected()
    let claim = device.claim(over: link)
    try await claim.take { false }
    do throws(ReaderError) {
      try await link.call(device.path, FprintdNames.device, member, arguments)
    } catch {
      await claim.release()
      throw error
    }
    await claim.release()
  }

  // MARK: Scans

  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    let device = try openDevice()
    guard let finger else { throw .notSupported }
    // fprintd would replace an existing print of this finger before the new one is confirmed.
    guard try await enrolledPrints().allSatisfy({ $0.finger != finger }) else { throw .duplicate }
    let stages = device.description.enrollStages
    let stage = StageCount()
    do throws(ReaderError) {
      let status = try await scan(.enroll, finger.fprintdName, observer) { status in
        guard let event = stage.event(of: status, below: stages) else { return true }
        observer(event)
        return false
      }
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
    let now = try await enrolledPrints()
    let living = try living(prints, among: now)
    guard let first = living.first else { throw .notOnChip }
    if living.count == 1 { return try await look(for: living, as: first.print.finger, now, nonce, observer) }
    // fprintd would also match a finger that is not among the given prints.
    guard now.allSatisfy({ one in living.contains { $0.print.finger == one.finger } }) else {
      throw .device("fprintd has other fingers enrolled than those looked for")
    }
    return try await look(for: living, as: nil, now, nonce, observer)
  }

  package func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    let now = try await enrolledPrints()
    let living = try living([print], among: now)
    guard let first = living.first else { throw .notOnChip }
    return try await look(for: living, as: first.print.finger, now, nonce, observer)
  }

  /// The prints that fprintd still has.
  private func living(_ prints: [EnrolledPrint], among now: [FprintdPrint]) throws(ReaderError) -> [LivingPrint] {
    try LivingPrint.all(of: prints, among: now, files: try openDevice().templates.folder ?? place.templates)
  }

  /// Runs one scan: for the named finger, or for any finger if none is named.
  private func look(
    for living: [LivingPrint], as finger: Finger?, _ before: [FprintdPrint], _ nonce: ScanNonce,
    _ observer: @escaping ScanObserver
  ) async throws(ReaderError) -> ScanAnswer {
    templateWatch?.look()
    let seen = fileChanges
    let end = try await scan(.verify, finger?.fprintdName ?? FprintdNames.anyFinger, observer) { _ in true }
    let outcome: ScanOutcome
    switch end.word {
    case .match:
      // The reader is claimed, so fprintd enrols nothing during the scan. But another program could write its files.
      let after = try await enrolledPrints()
      templateWatch?.look()
      guard after == before, fileChanges == seen else { throw .printsChanged }
      outcome = .match(try LivingPrint.matched(among: living, end.selected, asked: finger))
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
    fileChanges += 1
    guard let running, running.kind == .verify else { return }
    running.end(.failed(.printsChanged))
  }

  /// The user's fingers on the open reader, with digests if fprintd's files can be read.
  private func enrolledPrints() async throws(ReaderError) -> [FprintdPrint] {
    let device = try openDevice()
    let link = try await connected()
    return device.templates.prints(of: try await link.fingers(on: device.path, of: device.user))
  }

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    let now = try await enrolledPrints()
    // The known print has no digest, but the file can be read now. Treat it as another print.
    let living = try living(prints, among: now).filter { one in
      now.contains { $0 == one.print }
    }
    let known = Set(living.map(\.print.finger))
    return ChipList(
      present: Set(living.map(\.id)), unknown: now.filter { !known.contains($0.finger) }.map(\.template))
  }

  package func delete(_ template: Template) async throws(ReaderError) {
    guard let print = FprintdPrint(template) else { throw .badTemplate }
    let now = try await enrolledPrints()
    let wanted = EnrolledPrint(id: EnrolmentID(bytes: []), template: template)
    guard try living([wanted], among: now).count == 1 else { throw .notOnChip }
    try await delete(print.finger)
  }

  private func forget(_ finger: Finger) async throws(ReaderError) {
    guard try await enrolledPrints().contains(where: { $0.finger == finger }) else { return }
    try await delete(finger)
  }

  private func delete(_ finger: Finger) async throws(ReaderError) {
    try await callClaimed("DeleteEnrolledFinger", [.string(finger.fprintdName)])
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
    if let running {
      running.end(.suspended)
      await running.over()
    }
    // fprintd suspends the reader at the same moment, and may then stop the scan only after the sleep, or never.
    await released(within: .seconds(1))
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

  /// Starts the only action that the reader can run at a time, and always stops it: at the status for which `isLast` is
  /// true, when the task is cancelled, and when the machine goes to sleep.
  private func scan(
    _ kind: FprintdAction.Kind, _ argument: String, _ observer: @escaping ScanObserver,
    isLast: @escaping @Sendable (FprintdStatus) -> Bool
  ) async throws(ReaderError) -> FprintdAction.Status {
    let device = try openDevice()
    let action = FprintdAction(kind, isLast: isLast)
    running = action
    fingerWatch = FprintdFingerWatch(observer: observer, isTold: device.tellsFingers)
    let end = await withTaskCancellationHandler {
      await released()
      let claim: FprintdClaim
      do throws(ReaderError) {
        claim = device.claim(over: try await connected())
        try await claim.take { action.hasEnded }
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

  /// Throws if the reader was unplugged. fprintd still lists such a reader while it is claimed, because libfprint keeps
  /// it until it is closed.
  private func checkPresence() async throws(ReaderError) {
    guard let device = opened, let link = await connector.link, await !link.isOver else { return }
    // If the reader is gone, fprintd refuses to release it, and the connection is closed.
    await released()
    let listed = try? await link.call(FprintdNames.managerPath, FprintdNames.manager, "GetDevices").first?.asArray
    guard let listed, listed.contains(where: { $0.asObjectPath == device.path }) else {
      opened = nil
      throw .removed
    }
  }

  private func carryOut(
    _ action: FprintdAction, _ claim: FprintdClaim, _ argument: String
  ) async -> FprintdAction.End {
    do throws(ReaderError) { try await claim.start(action.kind, argument) } catch { return .failed(error) }
    fingerWatch?.scanStarted()
    let end = await action.ended()
    // Stopping sets `finger-needed` to false, which is no touch.
    fingerWatch?.scanEnded(touched: end.showsTouch)
    // Do not let the answer wait for this: closing a reader takes a while, and if it was unplugged, fprintd may never
    // answer.
    releasing = Task(executorPreference: LoopTasks.shared) { await claim.stop(action.kind) }
    return end
  }

  /// Waits until the last action is stopped and its claim released. If this takes too long, closes the connection:
  /// fprintd then ends the action and the claim, if it can, and the next call opens a new connection.
  private func released(within limit: Duration = .seconds(10)) async {
    guard let releasing else { return }
    let hangUp = Task(executorPreference: LoopTasks.shared) { [connector] in
      try await Pause.wait(for: limit)
      await connector.drop()
    }
    await releasing.value
    hangUp.cancel()
  }

  private func connected() async throws(ReaderError) -> FprintdConnection {
    try await connector.connected(isOpen: opened != nil)
  }

  private func receive(_ event: FprintdConnection.Event) {
    switch event {
    case .signal(let path, let member, let arguments):
      guard path == opened?.path else { return }
      running?.receive(member, arguments)
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
