// ReaderService: inside the reader process. Begin with `LibfprintReader` and `FprintdReader`, the two that drive readers;
// `Bus` has what a process does for its bus, its sleep and its end, `USB` what the kernel says of devices, `GLibKit`
// GLib for Swift.

internal import CFprint
package import Primitives

/// libfprint, as a ``FingerprintReader``.
///
/// It runs on the thread that owns GLib's default main context (``MainContext``), and calls libfprint nowhere else.
/// All calls are asynchronous except the enumeration, which iterates the main context.
package actor LibfprintReader: FingerprintReader {
  private let nature: ReaderDescription.Nature
  private var catalogue: Catalogue?
  private var opened: (device: Device, id: String)?
  private var running: RunningAction?
  /// The continuations that wait for the running action to end.
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var isSuspended = false
  /// The call that suspends the reader; nil while it is awake.
  private var suspending: Task<Result<Void, GLibError>, Never>?
  /// Whether the system has slept since the reader was opened.
  private var hasSlept = false
  /// How often, and at what interval, a reader is searched for after sleep.
  private static let searches = 12
  private static let pause = Duration.milliseconds(250)
  private var watch: FingerWatch?
  /// How long a list of readers is kept for an opening that follows.
  private static let listingLife = Duration.milliseconds(250)
  /// The number of lists made.
  private var listings = 0

  /// - Parameter nature: how the readers of this process are driven. libfprint's virtual drivers are used only with
  ///   `.virtual`, and then no others.
  package init(nature: ReaderDescription.Nature) {
    self.nature = nature
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    MainContextExecutor.shared.asUnownedSerialExecutor()
  }

  // MARK: Readers

  package func readers() async throws(ReaderError) -> [ReaderDescription] {
    let readers = try devices().map { $0.device.describe(id: $0.id, nature: nature) }
    forgetDevices(after: Self.listingLife)
    return readers
  }

  /// Drops libfprint's context of the machine's readers after this time, unless a reader was opened. The context opens
  /// each reader that is plugged in, at the same time as fprintd, which then ignores that reader until it restarts.
  private func forgetDevices(after time: Duration) {
    guard nature == .physical else { return }
    listings += 1
    Task(executorPreference: BackgroundThread.shared) { [listings] in
      try? await Pause.wait(for: time)
      await self.forget(listings)
    }
  }

  private func forget(_ listing: Int) { if listing == listings, opened == nil, running == nil { catalogue = nil } }

  /// The devices by their ids. If libfprint lists none although a reader is attached, the error says why.
  private func devices() throws(ReaderError) -> [(id: String, device: Device)] {
    let current = catalogue ?? Catalogue(nature: nature)
    catalogue = current
    let devices = current.devices()
    guard nature != .virtual, opened == nil, running == nil,
      let missing = SupportedUSBReaders.attached(besides: devices.compactMap { SysfsUSBDevice(of: $0.device) })
    else { return devices }
    // libfprint probes devices once for each context, so a new context is needed to try again.
    let renewed = Catalogue(nature: nature)
    catalogue = renewed
    let again = renewed.devices()
    if again.isEmpty, let reason = SupportedUSBReaders.reason(missing) { throw reason }
    return again
  }

  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription {
    guard opened == nil else { throw .device("a reader is open already") }
    guard let device = try devices().first(where: { $0.id == id })?.device else { throw .absent }
    do throws(ReaderError) {
      try await act(on: device) {
        fp_device_open(device.pointer, $0, $1, $2)
      } finish: { result in
        GLibError.catching { _ = fp_device_open_finish(device.pointer, result, $0) }
      } undo: { [self] in
        // Close it: nobody else would, and libfprint would not open it again.
        _ = await device.close(isolation: self)
      }
    } catch {
      forgetDevices(after: .zero)
      throw error.explained(opening: device)
    }
    (opened, hasSlept) = ((device, id), false)
    return device.describe(id: id, nature: nature)
  }

  package func prepare() async throws(ReaderError) -> ReaderDescription {
    try await openDevice().describe(id: opened?.id ?? "", nature: nature)
  }

  package func shutdown() async { try? await close() }

  package func close() async throws(ReaderError) {
    while let running {
      running.cancellable.cancel()
      await withCheckedContinuation { waiters.append($0) }
    }
    guard let device = opened?.device else { return }
    (opened, watch) = (nil, nil)
    // No action may begin before it is closed.
    running = RunningAction()
    defer { endAction() }
    try? await wake(device)
    let result = await device.close()
    forgetDevices(after: .zero)
    // An unplugged device is closed by the call that fails with "removed".
    if case .failure(let error) = result, error.readerError != .removed { throw error.readerError }
  }

  // MARK: Scans

  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    let device = try await openDevice()
    watch = FingerWatch(device: device, observer: observer)
    let blank = Print(blankFor: device)
    let progress = Unmanaged.passRetained(EnrolmentProgress(observer: observer))
    let print = try await act(on: device) {
      fp_device_enroll(
        device.pointer, blank.pointer, $0, enrolmentProgressed, progress.toOpaque(), releaseEnrolmentProgress, $1, $2)
    } finish: { result in
      // fp_device_enroll_finish: transfer full.
      GLibError.catching { fp_device_enroll_finish(device.pointer, result, $0).map(Print.init(adopting:)) }
    } undo: { [self] print in
      // Remove the print from the chip, because no set contains it.
      if let print { _ = await print.delete(from: device, isolation: self) }
    }
    guard let print else { throw .device("libfprint ended the enrolment without a print") }
    do throws(ReaderError) {
      return try print.serialized()
    } catch {
      _ = await print.delete(from: device, isolation: self)
      throw error
    }
  }

  package func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    let device = try await openDevice()
    let gallery = Gallery()
    for print in prints { gallery.append(try Print(parsing: print.template, for: device), as: print.id) }
    return try await scan(device, nonce: nonce, observer: observer) {
      fp_device_identify(device.pointer, gallery.array, $0, nil, nil, nil, $1, $2)
    } finish: { result in
      GLibError.catching { error in
        var match: OpaquePointer?
        // fp_device_identify_finish: the match is transfer full. It counts only if the call returns TRUE.
        let answered = fp_device_identify_finish(device.pointer, result, &match, nil, error) != 0
        let print = match.map(Print.init(adopting:))
        return answered ? gallery.outcome(for: print) : nil
      }
    }
  }

  package func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    let device = try await openDevice()
    let enrolled = try Print(parsing: print.template, for: device)
    return try await scan(device, nonce: nonce, observer: observer) {
      fp_device_verify(device.pointer, enrolled.pointer, $0, nil, nil, nil, $1, $2)
    } finish: { result in
      GLibError.catching { error in
        var matches: gboolean = 0
        guard fp_device_verify_finish(device.pointer, result, &matches, nil, error) != 0 else { return nil }
        return matches != 0 ? .match(print.id) : .noMatch
      }
    }
  }

  /// One scan of one finger. `finish` returns nil if libfprint has no answer.
  private func scan(
    _ device: Device, nonce: ScanNonce, observer: @escaping ScanObserver, start: Start,
    finish: @escaping @Sendable (OpaquePointer) -> Result<ScanOutcome?, GLibError>
  ) async throws(ReaderError) -> ScanAnswer {
    watch = FingerWatch(device: device, observer: observer)
    let (outcome, finishedAt) = try await act(on: device, start: start) { result in
      let finishedAt = ScanClock.now()
      return switch finish(result) {
      case .success(let outcome): .success((outcome, finishedAt))
      case .failure(let error):
        if let reason = error.retryReason { .success((.retry(reason), finishedAt)) } else { .failure(error) }
      }
    }
    guard let outcome else { throw .device("libfprint ended the scan without an answer") }
    if case .retry(let reason) = outcome { observer(.retry(reason)) }
    return ScanAnswer(nonce: nonce, outcome: outcome, finishedAt: finishedAt)
  }

  package func capture(
    includingImage: Bool, observer: @escaping ScanObserver
  ) async throws(ReaderError) -> CaptureOutcome {
    let device = try await openDevice()
    watch = FingerWatch(device: device, observer: observer)
    let (image, retry): (Image?, RetryReason?) = try await act(on: device) {
      fp_device_capture(device.pointer, 1, $0, $1, $2)
    } finish: { result in
      // fp_device_capture_finish: transfer full.
      let end = GLibError.catching { fp_device_capture_finish(device.pointer, result, $0).map(Image.init(adopting:)) }
      return switch end {
      case .success(let image): .success((image, nil))
      case .failure(let error):
        if let reason = error.retryReason { .success((nil, reason)) } else { .failure(error) }
      }
    }
    if let retry {
      observer(.retry(retry))
      return .retry(retry)
    }
    guard let image else { throw .device("libfprint ended the capture without a picture") }
    return .picture(try image.picture(includingImage: includingImage))
  }

  // MARK: Storage on the chip

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    let device = try await openDevice()
    var known: [(id: EnrolmentID, print: Print)] = []
    for print in prints { known.append((print.id, try Print(parsing: print.template, for: device))) }
    let stored = try await act(on: device) {
      fp_device_list_prints(device.pointer, $0, $1, $2)
    } finish: { result in
      // fp_device_list_prints_finish: the array is the caller's, and frees its elements.
      GLibError.catching { fp_device_list_prints_finish(device.pointer, result, $0).map(takePrints) ?? [] }
    }
    var list = ChipList(present: [], unknown: [])
    for print in stored {
      let ids = known.filter { $0.print.isSame(as: print) }.map(\.id)
      if ids.isEmpty { list.unknown.append(try print.serialized()) }
      list.present.formUnion(ids)
    }
    return list
  }

  package func delete(_ template: Template) async throws(ReaderError) {
    let device = try await openDevice()
    let print = try Print(parsing: template, for: device)
    try await act(on: device) {
      fp_device_delete_print(device.pointer, print.pointer, $0, $1, $2)
    } finish: { result in
      GLibError.catching { _ = fp_device_delete_print_finish(device.pointer, result, $0) }
    }
  }

  package func clearStorage() async throws(ReaderError) {
    let device = try await openDevice()
    try await act(on: device) {
      fp_device_clear_storage(device.pointer, $0, $1, $2)
    } finish: { result in
      GLibError.catching { _ = fp_device_clear_storage_finish(device.pointer, result, $0) }
    }
  }

  // MARK: Sleep

  /// Not an action: it runs during a scan, which some drivers continue after the sleep. A cancelled suspend leaves the
  /// reader awake.
  package func suspend() async throws(ReaderError) {
    guard !Task.isCancelled else { throw .cancelled }
    guard let device = opened?.device, !isSuspended else { return }
    isSuspended = true
    running?.isSuspended = true
    let call = Task.immediate(executorPreference: BackgroundThread.shared) { [self] in
      await finished(isolation: self) {
        fp_device_suspend(device.pointer, nil, $0, $1)
      } finish: { result in
        GLibError.catching { _ = fp_device_suspend_finish(device.pointer, result, $0) }
      }
    }
    suspending = call
    let result = await call.value
    if Task.isCancelled {
      try await wake(device)
      throw .cancelled
    }
    // A driver that cannot be suspended during a scan has ended the scan, and is suspended.
    if case .failure(let error) = result, error.readerError != .notSupported { throw error.readerError }
  }

  package func resume() async throws(ReaderError) {
    if let device = opened?.device { try await wake(device) }
  }

  /// Wakes a device that is suspended, or about to be: libfprint refuses a resume before the end of a suspend.
  private func wake(_ device: Device) async throws(ReaderError) {
    guard isSuspended else { return }
    if let suspending { _ = await suspending.value }
    guard isSuspended else { return }
    let result = await finished {
      fp_device_resume(device.pointer, nil, $0, $1)
    } finish: { result in
      GLibError.catching { _ = fp_device_resume_finish(device.pointer, result, $0) }
    }
    (isSuspended, suspending) = (false, nil)
    hasSlept = true
    running?.isSuspended = false
    if case .failure(let error) = result, error.readerError != .notSupported { throw error.readerError }
  }

  // MARK: Actions

  /// Makes the libfprint call with a cancellable, a callback and the callback's data.
  private typealias Start =
    @Sendable (UnsafeMutablePointer<GCancellable>, @escaping GAsyncReadyCallback, gpointer) -> Void

  /// The open device, or its replacement: after sleep some readers appear to the system as a new device, and every call
  /// on the old one fails.
  private func openDevice() async throws(ReaderError) -> Device {
    if let ghost = opened, ghost.device.isRemoved, hasSlept, running == nil, !isSuspended {
      try? await close()
      try await reopen(ghost.id)
    }
    guard let device = opened?.device else { throw .device("no reader is open") }
    try checkIdle(device)
    return device
  }

  /// Opens the reader at the same place as before the sleep. It may take a moment to appear.
  private func reopen(_ id: String) async throws(ReaderError) {
    for attempt in 1...Self.searches {
      // libfprint enumerates devices once for each context.
      catalogue = nil
      do throws(ReaderError) {
        _ = try await open(id, for: .own)
        return
      } catch .absent where attempt < Self.searches {
        do { try await Pause.wait(for: Self.pause) } catch { throw .cancelled }
      } catch .absent {
        throw .removed
      }
    }
  }

  private func checkIdle(_ device: Device) throws(ReaderError) {
    guard !device.isRemoved else { throw .removed }
    guard !isSuspended else { throw .suspended }
    guard running == nil else { throw .busy(holder: nil) }
    guard !Task.isCancelled else { throw .cancelled }
  }

  /// Runs the only action that a device can run at a time. It ends when the task is cancelled or the device unplugged.
  ///
  /// - Parameter undo: undoes an action that succeeded before libfprint saw the cancellation. Its result is ignored.
  private func act<Value: Sendable>(
    on device: Device, start: Start,
    finish: @escaping @Sendable (OpaquePointer) -> Result<Value, GLibError>,
    undo: (Value) async -> Void = { _ in }
  ) async throws(ReaderError) -> Value {
    try checkIdle(device)
    let action = RunningAction()
    running = action
    defer { endAction() }
    let cancellable = action.cancellable
    let removal = PropertyObservation(of: "removed", in: device.object) { cancellable.cancel() }
    let result = await withTaskCancellationHandler {
      // Capture the actor, because otherwise the closure would not run on it.
      await finished(isolation: self) {
        start(cancellable.pointer, $0, $1)
      } finish: {
        finish($0)
      }
    } onCancel: {
      cancellable.cancel()
    }
    withExtendedLifetime(removal) {}
    switch result {
    case .success(let value):
      guard Task.isCancelled || cancellable.isCancelled else { return value }
      await undo(value)
      throw device.isRemoved ? .removed : .cancelled
    case .failure(let error):
      throw device.isRemoved ? .removed : action.readerError(error)
    }
  }

  private func endAction() {
    running = nil
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
