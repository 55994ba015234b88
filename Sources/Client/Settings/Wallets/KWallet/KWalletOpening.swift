package import Primitives
internal import Processes
internal import SDBus

/// Opens the wallet in the user's desktop by starting its daemon with the key, before another program starts it without
/// the key.
package struct KWalletOpening: Sendable {
  private let places: KWalletPlaces
  private let environment: [String]
  private let limit: Duration

  /// - Parameters:
  ///   - environment: the desktop's environment, as `NAME=value`: it tells the daemon where to show dialogues.
  ///   - limit: how long the daemon may take until it first answers.
  package init(_ places: KWalletPlaces, environment: [String], limit: Duration = .seconds(10)) {
    self.places = places
    self.environment = environment
    self.limit = limit
  }

  /// Whether there is a desktop for the daemon's dialogues; it does not start without one.
  package var hasDesktop: Bool {
    environment.contains { entry in
      ["DISPLAY=", "WAYLAND_DISPLAY=", "QT_QPA_PLATFORM="].contains { entry.hasPrefix($0) && entry != $0 }
    }
  }

  /// - Throws: errors for damaged files, `program`, `noAnswer`, and `refused` if the key is wrong or a daemon already
  ///   runs with the wallet closed.
  package func open(with key: borrowing SecretBytes) async throws(WalletError) {
    try KWalletFile.requireSealed(places)
    let bus = KWalletBus(address: busAddress, daemon: places.daemon)
    switch try await bus.isOpen() {
    case true?: return
    case false?:
      // A second daemon would end without opening anything.
      throw .refused(
        "to open KWallet: \(places.daemon.name) was started without the key; log in anew, or end it and try again")
    case nil: break
    }
    guard hasDesktop else { throw .notRunning("KWallet needs a desktop, and there is none in this session") }
    let start = KWalletStart(
      places: places, folder: places.handover, environment: environment, launcher: launcher)
    let secret = SharedSecret(key.copy())
    // The daemon stays, but not the folder in which it is handed the key.
    let (daemon, started) = try Unfinished.ofThisProgram.make { () throws(WalletError) in
      try start.run(giving: secret.bytes)
    } undo: { _ in
    }
    Unfinished.ofThisProgram.forget(started)
    let beginning = ContinuousClock.now
    while true {
      let hasEnded = daemon.hasEnded
      switch try await bus.isOpen() {
      case true?: return
      case false?: throw .refused("to open KWallet: its password was changed ('whorl login repair' asks for it)")
      case nil: break
      }
      guard !hasEnded, ContinuousClock.now - beginning < limit else {
        throw .program("\(places.daemon.program) does not start, or ends at once")
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private var busAddress: String {
    let name = "DBUS_SESSION_BUS_ADDRESS="
    let given = environment.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    return given.flatMap { $0.isEmpty ? nil : $0 } ?? BusAddress.of(socketAt: "\(places.runtime)/bus")
  }

  /// A command that runs the daemon in a scope of the user's service manager. There it outlives the unit or the login
  /// that has started it, and ends with the session.
  private var launcher: [String] {
    guard PrivateFile.exists("\(places.runtime)/systemd/private") else { return [] }
    return ["/usr/bin/systemd-run", "--user", "--scope", "--quiet", "--collect", "--slice=session.slice", "--"]
  }
}
