internal import Glibc
internal import Primitives
internal import Processes
internal import SDBus
package import SecureMemory

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
    copies = try Unfinished.ofThisProgram.make { () throws(WalletError) in
      try? Folder.remove(places.trial)
      do throws(WalletError) {
        let copies = KWalletPlaces(data: "\(places.trial)/data", runtime: places.trial)
        for folder in [places.trial, copies.folder] { try PrivateFile.makeFolder(folder) }
        try PrivateFile.write(try PrivateFile.read(places.file), to: copies.file)
        try PrivateFile.write(try PrivateFile.read(places.salt), to: copies.salt)
      } catch {
        try? Folder.remove(places.trial)
        throw error
      }
    } undo: { _ in
      try? Folder.remove(places.trial)
    }.entry
  }

  deinit {
    try? Folder.remove(places.trial)
    Unfinished.ofThisProgram.forget(copies)
  }

  /// Whether the key opens the copy.
  package func opens(with key: borrowing SecretBytes) async throws(WalletError) -> Bool {
    let (bus, running) = try Unfinished.ofThisProgram.start { () throws(WalletError) in
      try TrialBus.start(places.busProgram, at: self.bus, environment)
    }
    defer { Unfinished.ofThisProgram.forget(running) }
    let result: Result<Bool, WalletError>
    do throws(WalletError) {
      result = .success(try await opens(with: key, bus))
    } catch {
      result = .failure(error)
    }
    _ = await bus.end(grace: .zero).value
    return try result.get()
  }

  private func opens(with key: borrowing SecretBytes, _ bus: ChildProcess) async throws(WalletError) -> Bool {
    let kwallet = KWalletBus(address: self.bus, daemon: places.daemon)
    _ = try await wait(for: bus, places.busProgram) { kwallet.listens ? true : nil }
    let start = KWalletStart(places: places, folder: "\(places.trial)/socket", environment: environment)
    let secret = SharedSecret(key.copy())
    let (daemon, running) = try Unfinished.ofThisProgram.start { () throws(WalletError) in
      try start.run(giving: secret.bytes)
    }
    defer { Unfinished.ofThisProgram.forget(running) }
    let result: Result<Bool, WalletError>
    do throws(WalletError) {
      result = .success(
        try await wait(for: daemon, places.daemon.program) { () async throws(WalletError) in
          try await kwallet.isOpen()
        })
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
