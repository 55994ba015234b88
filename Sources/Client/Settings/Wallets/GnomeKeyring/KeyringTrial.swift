internal import Glibc
package import Primitives
internal import Processes
internal import SDBus
internal import SecretModel

/// A second gnome-keyring-daemon on a copy of the login keyring, to try secrets and changes without harm. It is on no
/// bus, has its own control socket and sees no other keyring.
///
/// A user has one trial at a time. A new trial first removes the remains of an interrupted one, its daemon included.
package final class KeyringTrial: Sendable {
  private let places: KeyringPlaces
  private let lock: TrialLock
  private let copies: Unfinished.Entry

  private var data: String { "\(places.trial)/data" }
  private var keyrings: String { "\(data)/keyrings" }
  private var control: KeyringControl { KeyringControl(at: Self.control(of: places), limit: .seconds(10)) }

  private static func control(of places: KeyringPlaces) -> String { "\(places.trial)/control/control" }

  /// How long the daemon may take until it listens.
  private static let startLimit = Duration.seconds(10)

  /// Copies the file of the login keyring.
  ///
  /// - Parameter others: the names of other files in the folder to copy.
  /// - Throws: what is wrong with the file, `busy`, `program`, `system`.
  package init(of places: KeyringPlaces, with others: [String] = []) throws(WalletError) {
    try KeyringFile.requireSealed(places.file)
    self.places = places
    lock = try TrialLock(places.trial + ".lock")
    let keyrings = "\(places.trial)/data/keyrings"
    // All folders in one step. The files in them are entered after it, and a signal undoes them before it.
    copies = try Unfinished.ofThisProgram.make { () throws(WalletError) in
      Self.clear(places)
      do throws(WalletError) {
        for folder in [keyrings, "\(places.trial)/control"] { try PrivateFile.makeFolder(folder) }
      } catch {
        Self.clear(places)
        throw error
      }
    } undo: { _ in
      try? Folder.remove(places.trial)
    }.entry
    try PrivateFile.write(try PrivateFile.read(places.file), to: "\(keyrings)/login.keyring")
    for name in others {
      try PrivateFile.write(try PrivateFile.read("\(places.folder)/\(name)"), to: "\(keyrings)/\(name)")
    }
  }

  deinit {
    Self.clear(places)
    Unfinished.ofThisProgram.forget(copies)
  }

  /// Whether the secret opens the copy.
  package func opens(with secret: borrowing SecretBytes) async throws(WalletError) -> Bool {
    let daemon = try await start()
    let result = Result { () throws(WalletError) in try control.unlock(with: secret) }
    await end(daemon)
    guard try result.get() == .done else { return false }
    // If the daemon cannot read the file, it accepts any secret and makes a new keyring beside it.
    guard let names = Folder.names(in: keyrings) else {
      throw .system("\(keyrings): \(String(cString: strerror(errno)))")
    }
    let others = names.filter { $0.hasSuffix(".keyring") && $0 != "login.keyring" }
    guard others.isEmpty else { throw .damaged(places.file, why: "gnome-keyring-daemon cannot read it") }
    return true
  }

  /// Changes the password of the copy, as the user's daemon will change the keyring's, and checks that the new one
  /// opens it and the old one does not.
  ///
  /// - Throws: `wrongSecret` if the old password is wrong, `refused`, `unverified`.
  package func rehearse(from old: borrowing SecretBytes, to new: borrowing SecretBytes) async throws(WalletError) {
    guard try await opens(with: old) else { throw .wrongSecret }
    let daemon = try await start()
    let result = Result { () throws(WalletError) in try control.change(from: old, to: new) }
    await end(daemon)
    guard try result.get() == .done else { throw .refused("to give a copy of the keyring another password") }
    guard try await opens(with: new), try await !opens(with: old) else { throw .unverified }
  }

  private typealias Daemon = (value: ChildProcess, entry: Unfinished.Entry)

  /// - Parameters:
  ///   - components: what it serves beside its control socket.
  ///   - bus: nil: an address that no bus has, so that the daemon neither finds the user's bus nor starts one.
  private func start(_ components: String = "", on bus: String? = nil) async throws(WalletError) -> Daemon {
    let daemon: Daemon
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    do {
      daemon = try Unfinished.ofThisProgram.start {
        try ChildProcess(
          HelperProgram(at: places.program),
          arguments: [
            places.program, "--foreground", "--components=\(components)", "--control-directory=\(places.trial)/control",
          ],
          environment: environment(on: bus ?? BusAddress.of(socketAt: "\(places.trial)/none")),
          standardInput: input)
      }
    } catch {
      throw .notStarted(places.program, error)
    }
    let started = ContinuousClock.now
    while true {
      do throws(WalletError) {
        try control.requireListening()
        return daemon
      } catch {
        guard ContinuousClock.now - started < Self.startLimit, !daemon.value.hasEnded else {
          await end(daemon)
          throw .program("\(places.program) does not start: \(error.explanation.what)")
        }
      }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  private func environment(on bus: String) -> [String] {
    [
      "HOME=\(places.trial)", "XDG_DATA_HOME=\(data)", "XDG_RUNTIME_DIR=\(places.trial)", "LC_ALL=C.UTF-8",
      "DBUS_SESSION_BUS_ADDRESS=\(bus)",
    ]
  }

  /// Opens the copy, and serves what is in it on a bus of its own while `body` runs.
  ///
  /// - Parameter body: gets the address of the bus, on which only this daemon is the Secret Service.
  /// - Throws: `wrongSecret` if the secret does not open it, `program`, and the errors of `body`.
  package func serving<Value>(
    openedWith secret: SharedSecret, _ body: (_ bus: String) async throws -> Value
  ) async throws -> Value {
    let address = BusAddress.of(socketAt: "\(places.trial)/bus")
    let bus = try Unfinished.ofThisProgram.start { () throws(WalletError) in
      try TrialBus.start(at: address, environment(on: address))
    }
    let result: Result<Value, any Error>
    do {
      try await wait(for: bus.value, TrialBus.program) { (try? BusConnection(busAddress: address, handlers: .init())) }
      let daemon = try await start("secrets", on: address)
      do {
        guard try control.unlock(with: secret.bytes) == .done else { throw WalletError.wrongSecret }
        try await wait(for: daemon.value, places.program) {
          let connection = try? BusConnection(busAddress: address, handlers: .init())
          guard let connection, (try? await connection.owner(of: "org.freedesktop.secrets")) ?? nil != nil else {
            return nil
          }
          return connection
        }
        result = .success(try await body(address))
      } catch {
        result = .failure(error)
      }
      await end(daemon)
    } catch {
      result = .failure(error)
    }
    _ = await bus.value.end(grace: .zero).value
    Unfinished.ofThisProgram.forget(bus.entry)
    return try result.get()
  }

  /// Waits until a connection shows that a program of the trial is ready.
  private func wait(
    for child: ChildProcess, _ name: String, _ connection: () async -> BusConnection?
  ) async throws(WalletError) {
    let started = ContinuousClock.now
    while true {
      if let connection = await connection() { return connection.close() }
      guard !child.hasEnded, ContinuousClock.now - started < Self.startLimit else {
        throw .program("\(name) does not start, or ends at once")
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func end(_ daemon: Daemon) async {
    _ = try? control.quit()
    _ = await daemon.value.end(grace: .seconds(2)).value
    Unfinished.ofThisProgram.forget(daemon.entry)
  }

  /// Ends a daemon that was left behind, and removes the copies.
  private static func clear(_ places: KeyringPlaces) {
    guard PrivateFile.exists(places.trial) else { return }
    _ = try? KeyringControl(at: control(of: places), limit: .seconds(2)).quit()
    try? Folder.remove(places.trial)
  }
}
