// The one way to a vault of this program's own.

internal import Glibc
internal import Processes
internal import SDBus
internal import SecretModel
internal import VaultBus

/// Starts a vault for this program alone: a child process `whorld`, which ends with the connection.
enum PrivateVault {
  /// How long a vault whose connection was closed may take to finish a change.
  private static let endGrace = Duration.seconds(1)
  /// Turns off Swift's backtraces: after a crash they would start another program and print registers.
  private static let environment = ["SWIFT_BACKTRACE=enable=no"]

  /// Starts `whorld` and connects to it. `close()` of the connection returns when the process is gone.
  ///
  /// - Parameter program: the configured path of `whorld`; nil: its installed place.
  /// - Throws: `serviceUnavailable`.
  static func connect(program: String? = nil) throws(VaultError) -> any VaultConnection {
    guard let path = HelperPlaces.vault.locate(configured: program) else {
      throw .serviceUnavailable(
        "there is no whorld beside this program, in libexec/whorl or at vaultProgram of config.json; "
          + "'make install' installs it")
    }
    return try start(path)
  }

  /// The same before the configuration is read: a `whorld` that is installed with this program takes precedence over
  /// the configuration. Nil where there is none or it cannot be started; `connect(program:)` then says why.
  static func connectWithExecutable() -> (any VaultConnection)? {
    HelperPlaces.vault.locateWithExecutable().flatMap { try? start($0) }
  }

  /// Starts the program at this path as `whorld`.
  static func start(_ path: String) throws(VaultError) -> any VaultConnection {
    guard BusLoop.shared.isInThisProcess else {
      throw .forkedProcess
    }
    var pair: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw .serviceUnavailable(unsafe "no socket for whorld: \(String(cString: strerror(errno)))")
    }
    defer { close(pair[1]) }
    let child: ChildProcess
    do throws(VaultError) {
      child = try self.child(path, standardInput: pair[1])
    } catch {
      close(pair[0])
      throw error
    }
    return try VaultBusClient(socket: pair[0], vaultEnd: { await child.end(grace: endGrace).value })
  }

  private static func child(_ path: String, standardInput socket: Int32) throws(VaultError) -> ChildProcess {
    let program: HelperProgram
    do throws(HelperProgramError) {
      program = try HelperProgram(at: path)
    } catch {
      throw .serviceUnavailable(error.words)
    }
    do throws(ChildStartError) {
      return try ChildProcess(
        program, arguments: [path, "--private"], environment: environment, standardInput: socket)
    } catch {
      throw .serviceUnavailable("\(path): \(error.words)")
    }
  }
}
