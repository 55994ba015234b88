internal import Glibc
package import Primitives
internal import Processes
internal import SDBus

/// A second daemon on a copy of the wallet, with its own bus and no screen, to test whether a key opens the wallet.
///
/// A user has one trial at a time.
package final class KWalletTrial: Sendable {
  private let places: KWalletPlaces
  private let lock: TrialLock
  private let copies: Unfinished.Entry

  private var data: String { "\(places.trial)/data" }
  private var bus: String { BusAddress.of(socketAt: "\(places.trial)/bus") }
  private var environment: [String] {
    [
      "HOME=\(places.trial)", "XDG_DATA_HOME=\(data)", "XDG_CONFIG_HOME=\(places.trial)/config",
      "XDG_CACHE_HOME=\(places.trial)/cache", "XDG_RUNTIME_DIR=\(places.trial)", "LC_ALL=C.UTF-8",
      "QT_QPA_PLATFORM=offscreen", "DBUS_SESSION_BUS_ADDRESS=\(bus)",
    ]
  }

  /// How long the bus and the daemon may each take until they answer.
  private let limit: Duration

  /// Copies the wallet and its salt.
  ///
  /// - Parameter limit: how long the bus and the daemon may each take until they answer; tests wait less.
  /// - Throws: errors for damaged files, `busy`, `system`.
  package init(of places: KWalletPlaces, within limit: Duration = .seconds(20)) throws(WalletError) {
    try KWalletFile.requireSealed(places)
    self.places = places
    self.limit = limit
    lock = try TrialLock(places.trial + ".lock")
    let copied = KWalletPlaces(data: "\(places.trial)/data", runtime: places.trial)
    // All folders in one step. The files in them are entered after it, and a signal undoes them before it.
    copies = try Unfinished.ofThisProgram.make { () throws(WalletError) in
      try? Folder.remove(places.trial)
      do throws(WalletError) {
        for folder in [places.trial, copied.folder] { try PrivateFile.makeFolder(folder) }
      } catch {
        try? Folder.remove(places.trial)
        throw error
      }
    } undo: { _ in
      try? Folder.remove(places.trial)
    }.entry
    try PrivateFile.write(try PrivateFile.read(places.file), to: copied.file)
    try PrivateFile.write(try PrivateFile.read(places.salt), to: copied.salt)
  }

  deinit {
    try? Folder.remove(places.trial)
    Unfinished.ofThisProgram.forget(copies)
  }

  /// Whether the key opens the copy.
  package func opens(with key: borrowing SecretBytes) async throws(WalletError) -> Bool {
    try await withDaemon(givenKey: SharedSecret(key.copy())) { isOpen, _ in isOpen }
  }

  /// Opens the copy, and serves what is in it on a bus of its own while `body` runs.
  ///
  /// - Parameter body: gets the address of the bus, on which only this daemon is the Secret Service.
  /// - Throws: `wrongSecret` if the key does not open it, `program`, and the errors of `body`.
  package func serving<Value>(
    openedWith key: SharedSecret, _ body: (_ bus: String) async throws -> Value
  ) async throws -> Value {
    let result = try await withDaemon(givenKey: key) {
      isOpen, daemon async throws(WalletError) -> Result<Value, any Error> in
      guard isOpen else { throw .wrongSecret }
      // The daemon of KDE 5 takes this name a moment after its own.
      _ = try await wait(for: daemon, places.daemon.program) { () async throws(WalletError) in
        guard let connection = try? BusConnection(busAddress: bus, handlers: .init()) else { return nil }
        defer { connection.close() }
        return try? await connection.owner(of: "org.freedesktop.secrets") == nil ? nil : true
      }
      do { return .success(try await body(bus)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Runs the daemon on the copy, with a bus of its own.
  ///
  /// - Parameter body: gets whether the key has opened the copy.
  private func withDaemon<Value>(
    givenKey key: SharedSecret, _ body: (Bool, ChildProcess) async throws(WalletError) -> Value
  ) async throws(WalletError) -> Value {
    let (bus, running) = try Unfinished.ofThisProgram.start { () throws(WalletError) in
      try TrialBus.start(places.busProgram, at: self.bus, environment)
    }
    defer { Unfinished.ofThisProgram.forget(running) }
    let result: Result<Value, WalletError>
    do throws(WalletError) {
      result = .success(try await withDaemon(givenKey: key, onBusOf: bus, body))
    } catch {
      result = .failure(error)
    }
    _ = await bus.end(grace: .zero).value
    return try result.get()
  }

  private func withDaemon<Value>(
    givenKey key: SharedSecret, onBusOf bus: ChildProcess,
    _ body: (Bool, ChildProcess) async throws(WalletError) -> Value
  ) async throws(WalletError) -> Value {
    let kwallet = KWalletBus(address: self.bus, daemon: places.daemon)
    _ = try await wait(for: bus, places.busProgram) { kwallet.listens ? true : nil }
    let start = KWalletStart(places: places, folder: "\(places.trial)/socket", environment: environment)
    let (daemon, running) = try Unfinished.ofThisProgram.start { () throws(WalletError) in
      try start.run(giving: key.bytes)
    }
    defer { Unfinished.ofThisProgram.forget(running) }
    let result: Result<Value, WalletError>
    do throws(WalletError) {
      let isOpen = try await wait(for: daemon, places.daemon.program) { () async throws(WalletError) in
        try await kwallet.isOpen()
      }
      result = .success(try await body(isOpen, daemon))
    } catch {
      result = .failure(error)
    }
    _ = await daemon.end(grace: .zero).value
    return try result.get()
  }

  /// Repeats a question until it is answered, as long as the child runs.
  private func wait(
    for child: ChildProcess, _ name: String, _ answer: () async throws(WalletError) -> Bool?
  ) async throws(WalletError) -> Bool {
    let started = ContinuousClock.now
    while true {
      let hasEnded = child.hasEnded
      if let answer = try await answer() { return answer }
      guard !hasEnded, ContinuousClock.now - started < limit else {
        throw .program("\(name) does not start, or ends at once")
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}
