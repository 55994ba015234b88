// Passkeys: a FIDO authenticator with the passkeys of the store. Begin with `Authenticator`. `HIDTransport` makes requests of
// the reports that it gets (CTAPHID), and `CommandServer` answers them (CTAP2), each with a type of `Protocol/`.
// `PasskeyDevice` is the device of the session, `StorePasskeys` the way to the store and the person.

import Primitives

/// A FIDO authenticator: serves CTAPHID and CTAP2 over any stream of reports of 64 bytes, with the passkeys of a vault.
/// It uses no processor time while idle.
package actor Authenticator {
  private var transport = HIDTransport()
  private let server: CommandServer
  private let send: @Sendable ([UInt8]) -> Void
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  /// The current request, and its task.
  private var running: (request: UInt64, task: Task<Void, Never>)?
  private var timer: (deadline: UInt64, task: Task<Void, Never>)?
  private var tokenTimer: Task<Void, Never>?

  /// - Parameter send: sends a report to the client. Must not block for long.
  package init(vault: any PasskeyVault, send: @escaping @Sendable ([UInt8]) -> Void) {
    let (clock, start) = (ContinuousClock(), ContinuousClock().now)
    self.start = start
    self.send = send
    server = CommandServer(vault: vault, now: { start.duration(to: clock.now).milliseconds })
  }

  /// Handles the next report from the client.
  package func receive(_ report: [UInt8]) {
    handle(transport.receive(report, at: now))
  }

  /// Cancels the current request and discards the token, when the device is gone.
  package func stop() async {
    // Send nothing from here on, not even by a timer: the descriptor may soon be reused.
    transport = HIDTransport()
    running?.task.cancel()
    await running?.task.value
    await server.endToken()
  }

  private var now: UInt64 { start.duration(to: clock.now).milliseconds }

  private func handle(_ outputs: [HIDTransport.Output]) {
    for output in outputs {
      switch output {
      case .send(let report): send(report)
      case .request(let request, let channel, let message): serve(request, channel, message)
      // The transport only ever cancels the current request.
      case .cancel: running?.task.cancel()
      }
    }
    setTimer()
  }

  private func serve(_ request: UInt64, _ channel: UInt32, _ message: [UInt8]) {
    let earlier = running?.task
    let task = Task(executorPreference: BackgroundThread.shared) {
      // Wait for the earlier request: it may still run although its client has abandoned it.
      await earlier?.value
      await self.answer(request, channel, message)
    }
    running = (request, task)
  }

  private func answer(_ request: UInt64, _ channel: UInt32, _ message: [UInt8]) async {
    let answer = await server.answer(message, on: channel)
    if running?.request == request { running = nil }
    handle(transport.answer(answer, to: request))
    setTokenTimer()
  }

  private func setTimer() { setTimer(to: transport.deadline) }

  private func setTimer(to deadline: UInt64?) {
    guard timer?.deadline != deadline else { return }
    timer?.task.cancel()
    timer = nil
    guard let deadline else { return }
    let instant = start + .milliseconds(deadline)
    let task = Task(executorPreference: BackgroundThread.shared) { [clock] in
      guard (try? await Pause.wait(for: instant - clock.now)) != nil else { return }
      await self.tick()
    }
    timer = (deadline, task)
  }

  private func tick() {
    timer = nil
    handle(transport.tick(at: now, server.isAsking ? .userPresenceNeeded : .processing))
  }

  /// Ends the token when it expires, so that the vault discards a touch that no request has used.
  private func setTokenTimer() {
    tokenTimer?.cancel()
    tokenTimer = server.tokenDeadline.map { deadline in
      let instant = start + .milliseconds(deadline)
      return Task(executorPreference: BackgroundThread.shared) { [clock] in
        guard (try? await Pause.wait(for: instant - clock.now)) != nil else { return }
        await self.endExpiredToken()
      }
    }
  }

  private func endExpiredToken() async {
    if running == nil { await server.endExpiredToken() }
  }
}

extension Duration {
  fileprivate var milliseconds: UInt64 {
    UInt64(components.seconds) * 1_000 + UInt64(components.attoseconds / 1_000_000_000_000_000)
  }
}
