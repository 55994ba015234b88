internal import Glibc
internal import Processes

/// The message bus of a trial, which only its daemon and this program know.
enum TrialBus {
  static let program = "/usr/bin/dbus-daemon"

  static func start(
    _ program: String = program, at address: String, _ environment: [String]
  ) throws(WalletError) -> ChildProcess {
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    do {
      return try ChildProcess(
        HelperProgram(at: program),
        arguments: [program, "--session", "--nofork", "--nopidfile", "--nosyslog", "--address=\(address)"],
        environment: environment, standardInput: input)
    } catch {
      throw .notStarted(program, error)
    }
  }
}
