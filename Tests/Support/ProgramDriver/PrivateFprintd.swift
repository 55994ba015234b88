internal import Glibc
internal import SDBus
internal import Synchronization
package import VirtualFinger

/// The installed fprintd on a private message bus, with one of libfprint's virtual readers and a mock polkit that
/// allows every action.
///
/// The machine's own bus and enrolled fingers are not touched.
package final class PrivateFprintd: Sendable {
  package enum Reader: Sendable { case image, storage }

  package let reader: Reader
  /// The address of the bus.
  package let bus: String
  /// The folder where fprintd stores its templates.
  package let templates: String
  /// The socket of the virtual reader.
  package let socket: String
  private let running = Mutex<[RunningProgram]>([])
  private let daemon = Mutex<RunningProgram?>(nil)

  private init(_ reader: Reader, in folder: String) {
    self.reader = reader
    bus = "unix:path=\(folder)/bus"
    templates = "\(folder)/state"
    socket = "\(folder)/finger"
  }

  package static func with<Value>(_ reader: Reader, _ body: (PrivateFprintd) async throws -> Value) async throws
    -> Value
  {
    try await withFolder { folder in
      let fprintd = PrivateFprintd(reader, in: folder)
      defer { fprintd.end() }
      try await fprintd.start(in: folder)
      return try await body(fprintd)
    }
  }

  package var image: VirtualImageReader { VirtualImageReader(socket: socket) }
  package var storage: VirtualStorageReader { VirtualStorageReader(socket: socket) }

  private func start(in folder: String) async throws {
    guard mkdirPrivate(templates) else { throw SystemFailure(templates) }
    let configuration = "\(folder)/bus.conf"
    try writeFile(configuration, Array(busConfiguration.utf8))
    try run("/usr/bin/dbus-daemon", "--nofork", "--nosyslog", "--config-file=\(configuration)")
    try await waitForBus()
    try run("/usr/bin/python3", "-m", "dbusmock", "--system", "-t", "polkitd")
    try await waitForOwner(of: "org.freedesktop.PolicyKit1")
    try allow("verify", "enroll", "setusername")
    try await startDaemon()
  }

  private func end() {
    daemon.withLock { $0?.signal(SIGKILL) }
    for program in running.withLock({ $0 }).reversed() { program.signal(SIGKILL) }
  }

  // MARK: fprintd

  /// Kills fprintd and starts it again.
  package func restart() async throws {
    killDaemon()
    try await startDaemon()
  }

  package func killDaemon() {
    daemon.withLock { $0?.signal(SIGKILL) }
    // The thread that reads the daemon's output also reaps it.
    while daemon.withLock({ $0?.isRunning ?? false }) { usleep(5_000) }
    unlink(socket)
  }

  /// Lets a program of another user own fprintd's bus name. Needs root.
  package func pretend(user: UInt32) async throws {
    // Let the other user reach the bus's socket, which is in the test's private folder.
    chmod(String(templates.dropLast("/state".count)), 0o711)
    try run(
      "/usr/bin/setpriv", "--reuid=\(user)", "--clear-groups", "/usr/bin/python3", "-m", "dbusmock", "--system",
      "net.reactivated.Fprint", "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager")
    try await waitForOwner(of: "net.reactivated.Fprint")
  }

  private func startDaemon() async throws {
    let (driver, variable) =
      reader == .image ? ("virtual_image", "FP_VIRTUAL_IMAGE") : ("virtual_device_storage", "FP_VIRTUAL_DEVICE_STORAGE")
    let places = ["/usr/libexec/fprintd", "/usr/lib/fprintd/fprintd", "/usr/lib/fprintd"]
    guard let program = places.first(where: isProgram) else { throw SystemFailure("fprintd", ENOENT) }
    let started = try run(
      program, "-t",
      environment: [
        variable: socket, "FP_DRIVERS_WHITELIST": driver, "FP_DRIVERS_ALLOWLIST": driver, "STATE_DIRECTORY": templates,
      ])
    daemon.withLock { $0 = started }
    try await waitForOwner(of: "net.reactivated.Fprint")
  }

  private func isProgram(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }

  /// Makes polkit allow these actions of fprintd and refuse all others.
  package func allow(_ actions: String...) throws {
    let result = try Invocation(
      program: "/usr/bin/busctl",
      arguments: [
        "--address=\(bus)", "call", "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
        "org.freedesktop.DBus.Mock", "SetAllowed", "as", "\(actions.count)",
      ] + actions.map { "net.reactivated.fprint.device.\($0)" }
    ).start().finish { _, _ in }
    guard result.status == 0 else { throw SystemFailure("busctl: \(result.diagnostics)", EIO) }
  }

  // MARK: fprintd's own tools

  /// Enrols a finger with `fprintd-enroll`, and presses it for each stage.
  ///
  /// - Parameter user: the user to enrol the finger for; nil: this user.
  package func enroll(_ finger: String, of user: String? = nil, pressing picture: SyntheticFinger) async throws {
    let image = image
    try await enroll(finger, of: user) { number in try image.press(picture.impression(number)) }
  }

  /// Enrols a finger on the virtual match-on-chip reader, where a finger is a word.
  package func enroll(_ finger: String, scanning word: String) async throws {
    let storage = storage
    try await enroll(finger) { _ in try storage.scan(word) }
  }

  private func enroll(
    _ finger: String, of user: String? = nil, touch: @escaping @Sendable (UInt64) throws -> Void
  ) async throws {
    let stages = Mutex((heard: 0, isOver: false))
    let touching = Task {
      for number in UInt64(1)...40 {
        let before = stages.withLock { $0 }
        guard !before.isOver else { return }
        try await waitForFingerNeeded()
        try await onThread { try touch(number) }
        for _ in 1...200 {
          if stages.withLock({ $0.isOver || $0.heard > before.heard }) { break }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
    let result = try await tool("fprintd-enroll", "-f", finger, user ?? userName()) { line in
      if line.contains("Enroll result") { stages.withLock { $0.heard += 1 } }
    }
    stages.withLock { $0.isOver = true }
    touching.cancel()
    _ = await touching.result
    guard result.diagnostics.contains("enroll-completed") else {
      throw SystemFailure("fprintd-enroll: \(result.diagnostics)", EIO)
    }
  }

  package func delete(_ finger: String) async throws {
    let result = try await tool("fprintd-delete", userName(), "-f", finger)
    guard result.status == 0 else { throw SystemFailure("fprintd-delete: \(result.diagnostics)", EIO) }
  }

  /// Runs one of fprintd's programs until it exits. Each line of its output is passed to `heard` and collected in
  /// `diagnostics`.
  package func tool(_ words: String..., heard: @escaping @Sendable (String) -> Void = { _ in }) async throws
    -> Invocation.Result
  {
    try await Invocation(
      program: "/bin/sh", arguments: ["-c", "exec \"$@\" >&2", "sh"] + words,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus]
    ).run { line, _ in heard(line) }
  }

  package func userName() -> String {
    getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) } ?? ""
  }

  /// The only template file.
  package func templateFile() throws -> String? {
    func files(in folder: String) throws -> [String] {
      try folderEntries(folder).flatMap { name in (try? files(in: "\(folder)/\(name)")) ?? ["\(folder)/\(name)"] }
    }
    return try files(in: templates).first
  }

  private func waitForFingerNeeded() async throws {
    for _ in 1...200 {
      let result = try await Invocation(
        program: "/usr/bin/busctl",
        arguments: [
          "--address=\(bus)", "get-property", "net.reactivated.Fprint", "/net/reactivated/Fprint/Device/0",
          "net.reactivated.Fprint.Device", "finger-needed",
        ]
      ).run()
      if result.text.contains("true") { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw SystemFailure("fprintd asks for no finger", ETIMEDOUT)
  }

  // MARK: Programs

  @discardableResult
  private func run(_ words: String..., environment: [String: String] = [:]) throws -> RunningProgram {
    let program = try Invocation(
      program: words[0], arguments: Array(words.dropFirst()),
      environment: environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": bus]) { $1 }
    ).start()
    running.withLock { $0.append(program) }
    startThread { _ = program.finish { _, _ in } }
    return program
  }

  private func waitForBus() async throws {
    let address = bus
    try await wait("the bus") { (try? BusConnection(busAddress: address, handlers: .init()))?.close() != nil }
  }

  private func waitForOwner(of name: String) async throws {
    let connection = try BusConnection(busAddress: bus, handlers: .init())
    defer { connection.close() }
    try await wait(name) { try await connection.owner(of: name) != nil }
  }

  private func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
    for _ in 1...2_000 {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw SystemFailure("\(what) did not come", ETIMEDOUT)
  }

  private var busConfiguration: String {
    """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>system</type>
      <listen>\(bus)</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow user="*"/>
        <allow own="*"/>
        <allow send_type="method_call"/>
        <allow send_type="signal"/>
        <allow send_destination="*" eavesdrop="true"/>
        <allow receive_sender="*"/>
      </policy>
    </busconfig>
    """
  }
}

/// Runs blocking work on a thread of its own.
package func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    startThread { continuation.resume(with: Result { try body() }) }
  }
}
