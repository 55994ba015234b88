internal import Glibc
internal import Processes
package import SDBus
package import SecretModel

/// Serves a vault to the one client at the other end of a socket.
package final class VaultBusServer: Sendable {
  private let connection: BusConnection

  /// Serves over a connected socket until either side ends the connection. Takes ownership of the socket, also if this
  /// throws.
  ///
  /// - Parameters:
  ///   - connection: the vaults to serve. Closed when the connection ends, with their contexts and the new stores that
  ///     were not kept.
  ///   - greetingLimit: how long to wait for the client's hello before the connection is closed. Nil: until the
  ///     connection ends. The vault of one program ends with this program, which may be stopped for any time.
  ///   - settlingLimit: how long to wait for the vault and running calls after the connection has ended.
  ///   - onClosed: called once, when the connection has ended, `connection` is closed and all calls have ended, or when
  ///     that takes too long.
  /// - Throws: `serviceUnavailable`.
  package init(
    socket: Int32, connection vault: any VaultConnection, greetingLimit: Duration? = nil,
    settlingLimit: Duration = .seconds(10), onClosed: @escaping @Sendable () -> Void
  ) throws(VaultError) {
    let object = VaultObject(
      serving: vault, budgets: UserBudgets(ServingLimits()), greetingLimit: greetingLimit,
      settlingLimit: settlingLimit, onClosed: onClosed)
    do throws(BusError) {
      connection = try BusConnection(
        socket: socket, role: .server, limits: .ofOneServedVault,
        handlers: .init(
          opened: { object.expectGreeting(on: $0) }, call: { object.handle($0) }, closed: { object.connectionEnded() }))
    } catch {
      throw .serviceUnavailable("no connection to the client")
    }
  }

  /// Ends the connection. `onClosed` is called when everything has ended.
  package func close() { connection.close() }
}

extension BusLimits {
  /// The limits of a connection on which a vault is served.
  static var ofServedVaults: Self {
    var limits = Self()
    // Larger than `VaultInterface.callLimit`, so that a client with too many calls gets answers.
    limits.openCalls = 1_024
    // Room for the largest answer and others.
    limits.unreadBytes = 2 * VaultInterface.answerLimit
    // As for the hello (`ServingLimits`)
    limits.messageMicroseconds = 30_000_000
    return limits
  }

  /// The same for the connection of one program, which the server ends with.
  fileprivate static var ofOneServedVault: Self {
    var limits = ofServedVaults
    limits.messageMicroseconds = 3_600_000_000
    return limits
  }
}

extension Caller {
  /// The program at the other end of a socket.
  ///
  /// Nil if it has ended, or cannot be seen from this process's PID namespace. If the kernel has pidfds of sockets
  /// (Linux 6.5), start time and label are certainly those of the program that connected.
  package init?(_ peer: BusPeer) {
    guard let started = ProcessHandle.start(of: peer.processID) else { return nil }
    let label = ProgramLabel.text(of: peer.processID)
    // The kernel reveals it to a private vault. The system service asks another unit.
    let file = ExecutedFile(of: peer.processID).map {
      ProgramFile(device: $0.device, inode: $0.inode, owner: $0.owner)
    }
    if let process = peer.process {
      // A pidfd becomes readable when its process ends. If the process still runs, the values read above are its own.
      var polled = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, 0) == 0 else { return nil }
    } else if ProcessHandle.start(of: peer.processID) != started {
      return nil
    }
    self.init(
      user: peer.userID, process: ProcessInstance(id: peer.processID, started: started), label: label,
      file: file ?? .other)
  }
}
