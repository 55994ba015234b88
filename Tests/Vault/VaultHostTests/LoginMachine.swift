import Glibc
import Keys
import Primitives
import Processes
import ProgramDriver
import SDBus
import SecretModel
import Synchronization
import VaultDriver
import VaultHost
import VirtualFinger

/// The service as systemd runs it, and programs of root that ask it for a finger through the PAM module. Both have a `/run`
/// of their own, and the programs the PAM files of a folder. The user `daemon` has a store with a finger. Programs of that user
/// find the PAM module and the locker of these tests beside the PAM files.
final class LoginMachine: Sendable {
  /// An account that every machine has.
  private static let user: UInt32 = 1
  private static let name = "daemon"
  static let password = "open sesame"
  private static let hash =
    "$6$whorltest$Bg9lHX4JyiKgDFt8DAT8Vrxb82TKPoUysPFC0HmrywopfFBHT3DOf6tQL6nXQHIpDDEQpgkJbaGbhwivG7.PH."

  private static let sources = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  let logind: LogindStandIn
  private let folder: String

  private var sensor: String { folder + "/sensor" }
  /// A file that polkit's helper makes where a person was let in.
  private var mark: String { folder + "/in" }

  /// A machine with a virtual reader, which is a swipe sensor.
  static func with(_ body: (LoginMachine) async throws -> Void) async throws {
    try await PrivateBus.withSession { bus, logind, _ in
      let machine = try await LoginMachine(logind, hasFprintd: false)
      try await machine.serving(on: bus) { try await body(machine) }
    }
  }

  /// A machine with open-fprintd, which has these fingers.
  static func withOpenFprintd(
    _ fingers: [String], _ body: (LoginMachine, OpenFprintd) async throws -> Void
  ) async throws {
    try await PrivateBus.withSession { bus, logind, _ in
      let fprintd = try await OpenFprintd(on: bus, fingers: fingers)
      defer { fprintd.close() }
      let machine = try await LoginMachine(logind, hasFprintd: true)
      let unit =
        machine.beside(bus, try Programs.path("whorl-reader"))
        + ["--reader", "fprintd", "--unit-for", "root", "--idle-seconds", "30"]
      try await UnitLauncher.with(program: ["/usr/bin/unshare"] + unit, at: machine.folder + "/readers/fprintd") { _ in
        try await machine.serving(on: bus) { try await body(machine, fprintd) }
      }
    }
  }

  private func serving(on bus: PrivateBus, _ body: () async throws -> Void) async throws {
    let broker = try service(on: bus)
    try await body()
    await broker.close()
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  /// - Parameter hasFprintd: whether its readers are fprintd's; else it has a virtual one, and the store a finger of it.
  private init(_ logind: LogindStandIn, hasFprintd: Bool) async throws {
    self.logind = logind
    folder = try RunningService.makeFolder()
    for name in ["stores", "run", "whorl", "pam.d", "readers"] { mkdir("\(folder)/\(name)", 0o755) }
    let reader = hasFprintd ? "fprintd" : "virtual-image:\(folder)/sensor"
    try RunningService.write(
      "require-passcode-after-boot = no\ntpm = no\nreader = \(reader)\n", to: folder + "/conf")
    try RunningService.write("\(Self.name):\(Self.hash):20000:0:99999:7:::\n", to: folder + "/shadow")
    let module = folder + "/pam_whorl.so"
    try await onThread { try ScratchStore.run("\(Self.sources)/scripts/build-pam-module", [module]) }
    for service in ["su", "polkit-1"] {
      try RunningService.write(
        """
        auth    sufficient \(module) verify services=\(service)
        auth    required pam_unix.so try_first_pass nodelay
        account required \(service == "su" ? "pam_permit.so" : "pam_exec.so quiet /usr/bin/touch \(mark)")
        session required pam_permit.so

        """, to: "\(folder)/pam.d/\(service)")
    }
    try await makeLockScreens(with: module)
    try await makeStore(enrolling: !hasFprintd)
  }

  /// The PAM files of lock screens, for a locker that runs as its user.
  private func makeLockScreens(with module: String) async throws {
    let folder = folder
    try await onThread {
      try ScratchStore.run("/bin/cp", [module, folder + "/pam.d/pam_whorl.so"])
      try ScratchStore.run(
        "/bin/sh",
        [
          "-c", #"cc=${CC:-cc}; command -v "$cc" >/dev/null 2>&1 || cc=clang; exec "$cc" "$@""#, "sh", "-std=gnu11",
          "-o", folder + "/pam.d/locker", Self.sources + "/Tests/Login/locker.c", "-lpam",
        ])
    }
    // As Debian's and `whorl login enable screen`: the first line alone would let everybody in.
    try RunningService.write(
      """
      auth required pam_permit.so
      auth [success=ok default=bad] /etc/pam.d/pam_whorl.so verify serial services=kde-fingerprint

      """, to: folder + "/pam.d/kde-fingerprint")
    try RunningService.write(
      """
      auth sufficient /etc/pam.d/pam_whorl.so verify services=swaylock
      auth required pam_unix.so nodelay

      """, to: folder + "/pam.d/swaylock")
    // pam_unix's own helper reads it for a program of the user.
    guard let group = getgrnam("shadow"), chown(folder + "/shadow", 0, group.pointee.gr_gid) == 0,
      chmod(folder + "/shadow", 0o640) == 0
    else { throw RunningService.Failed(what: "the file of passwords") }
  }

  private func makeStore(enrolling: Bool) async throws {
    var configuration = SystemVaultsConfiguration(
      folder: folder + "/stores", reader: .child(.virtualImage(socket: sensor)), accountName: { Account.name(of: $0) },
      authorizeOwner: { _, _ in }, authorizeFingers: { _ in }, authorizeTest: { _ in })
    configuration.floor = .weakForTests
    let vaults = SystemVaults(configuration)
    let connection = vaults.connection(for: Caller(user: Self.user))
    let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    try await connection.keep(draft.id)
    let person = Person(
      passcodes: [RunningService.passcode], touches: (1...6).map { number in { try await self.press(UInt64(number)) } })
    if enrolling {
      let vault = try await connection.open(.own)
      _ = try await person.with(vault) { try await vault.enroll(.rightIndex, Asking(in: $0)) }
    }
    await connection.close()
    await vaults.close()
  }

  private func service(on bus: PrivateBus) throws -> VaultBroker {
    let socket = try RunningService.listen(at: folder + "/whorl/bus")
    // Its unit says so, too: every user's programs connect.
    chmod(folder + "/whorl/bus", 0o666)
    let words = ["unshare"] + beside(bus, try Programs.path("whorld"))
    return try VaultBroker(
      socket: socket, program: HelperProgram(at: "/usr/bin/unshare"),
      arguments: { [folder] user in
        words + ["--of", "\(user)"] + ["stores", "conf", "run"].map { "\(folder)/\($0)" }
      },
      environment: ["SWIFT_BACKTRACE=enable=no"], hasAccount: { Account.name(of: $0) != nil }, afterEnd: { _ in },
      log: { print($0) })
  }

  /// The words after `unshare` that run a program of the service where this bus is the system's.
  private func beside(_ bus: PrivateBus, _ program: String) -> [String] {
    let script = """
      mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/dbus /run/whorl-reader && touch /run/dbus/system_bus_socket &&
      mount --bind \(bus.address.dropFirst("unix:path=".count)) /run/dbus/system_bus_socket &&
      mount --bind \(folder)/readers /run/whorl-reader && exec \(program) "$@"
      """
    return ["--mount", "--propagation", "private", "sh", "-c", script, "sh"]
  }

  /// Presses a finger, as soon as the reader is armed.
  func press(_ number: UInt64, person: Int = 1) async throws {
    let image = SyntheticFinger(person: person, finger: .rightIndex).impression(number)
    let sensor = sensor
    try await onThread { try VirtualImageReader(socket: sensor, patience: .seconds(15)).press(image) }
  }

  // MARK: Programs

  /// Has a shell tell its process, wait for a line, and become that program.
  private func becoming(_ command: [String]) -> [String] {
    let script = """
      echo "process $$."; read -r go
      exec unshare --mount --propagation private sh -c 'mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/whorl &&
      mount --bind \(folder)/whorl /run/whorl && mount --bind \(folder)/pam.d /etc/pam.d &&
      mount --bind \(folder)/shadow /etc/shadow && exec "$@"' sh "$@"
      """
    return ["-c", script, "sh"] + command
  }

  /// Waits for the number of a process after a word in what such a shell has said, or an agent.
  private static func process(_ word: String, in said: () -> String) async throws -> pid_t {
    for _ in 0..<2_000 {
      let parts = said().split(separator: "\(word) ", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
      if let number = parts.first.flatMap({ $0.firstIndex(of: ".").map($0.prefix(upTo:)) }).flatMap({ pid_t($0) }) {
        return number
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw RunningService.Failed(what: "no '\(word)' in \(said())")
  }

  /// `su` at a terminal, in a session at the seat. It says "let in" at its end.
  func su() async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      becoming(["su", "-s", "/bin/sh", Self.name, "-c", "echo let in"]), program: "/bin/sh")
    let process = try await Self.process("process") { terminal.shown }
    logind.add("c\(process)", process: process)
    terminal.type("\n")
    return terminal
  }

  /// A locker of the user, with the password that was typed before Enter.
  ///
  /// - Parameters:
  ///   - service: its PAM service.
  ///   - owner: the user of the session that it is in.
  ///   - changes: how the session differs from one at the seat.
  func locker(
    _ service: String, typed password: String, inSessionOf owner: UInt32 = LoginMachine.user,
    _ changes: [String: BusValue] = [:]
  ) async throws -> PseudoTerminal {
    let user = "\(Self.user)"
    let terminal = try PseudoTerminal(
      becoming(
        ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "/etc/pam.d/locker", service, password]),
      program: "/bin/sh")
    let process = try await Self.process("process") { terminal.shown }
    logind.add("c\(process)", user: owner, process: process, changes)
    terminal.type("\n")
    return terminal
  }

  /// Takes the service's socket away, as where the service is not installed.
  func removeService() { remove(folder + "/whorl/bus") }

  /// polkit's helper, as systemd starts it: in no session, with the socket of an agent.
  ///
  /// - Parameters:
  ///   - user: the real user id of the helper. Another one than root's has it started by a program of that user.
  ///   - name: the agent's, as the kernel cuts it.
  ///   - changes: how the agent's session differs from one at the seat.
  func polkitHelper(
    startedBy user: UInt32 = 0, for name: String = "agent", in changes: [String: BusValue] = [:]
  ) async throws -> PolkitHelper {
    remove(mark)
    let helper = try PolkitHelper(agent(name, startedBy: user), mark: mark)
    try await begin(changes, { helper.said() }, { helper.send($0) })
    return helper
  }

  /// The same for an agent that reads its terminal.
  func polkitHelperAtTerminal() async throws -> PseudoTerminal {
    remove(mark)
    let terminal = try PseudoTerminal(agent("agent", startedBy: 0), program: "/usr/bin/python3")
    try await begin([:], { terminal.shown }, { terminal.type($0) })
    return terminal
  }

  /// Whether a helper has let the person in.
  func hasLetIn() -> Bool { access(mark, F_OK) == 0 }

  /// The words after `python3` that run an agent and its helper.
  private func agent(_ name: String, startedBy user: UInt32) -> [String] {
    ["\(Self.sources)/Tests/Login/polkit-agent.py", name, "/bin/sh"]
      + becoming(["setpriv", "--ruid", "\(user)", PolkitHelper.program, Self.name])
  }

  private func begin(
    _ changes: [String: BusValue], _ said: () -> String, _ send: (String) -> Void
  ) async throws {
    let agent = try await Self.process("agent", in: said)
    logind.add("c\(agent)", process: agent, changes)
    send("\n")
    _ = try await Self.process("process", in: said)
    send("go\ncookie\n")
  }
}

/// An agent without a terminal, and polkit's helper that works for it.
final class PolkitHelper: Sendable {
  static let program = "/usr/lib/polkit-1/polkit-agent-helper-1"

  private let end: Int32
  private let child: ChildProcess
  private let mark: String
  private let heard = Mutex<[UInt8]>([])

  init(_ arguments: [String], mark: String) throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw SystemFailure("socketpair")
    }
    defer { close(pair[1]) }
    end = pair[0]
    self.mark = mark
    child = try ChildProcess(
      HelperProgram(at: "/bin/sh"), arguments: ["sh", "-c", "exec python3 \"$@\"", "sh"] + arguments,
      environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], standardInput: pair[1], standardOutput: pair[1])
  }

  deinit { close(end) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    // A helper that has ended takes nothing any more.
    _ = Glibc.send(end, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Reads until the text has come. Returns all that has come so far.
  func waits(for text: String) async throws -> String {
    for _ in 0..<2_000 {
      let all = said()
      if all.contains(text) { return all }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw RunningService.Failed(what: "no '\(text)' in \(said())")
  }

  /// All that has come so far.
  func said() -> String {
    heard.withLock { heard in
      var chunk = [UInt8](repeating: 0, count: 4_096)
      let count = recv(end, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count > 0 { heard += chunk[..<count] }
      return String(decoding: heard, as: UTF8.self)
    }
  }

  /// Waits for its end. Returns whether it has let the person in.
  func letsIn() async -> Bool {
    _ = await child.end(grace: .seconds(20)).value
    return access(mark, F_OK) == 0
  }
}
