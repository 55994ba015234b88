import Glibc
import Processes
import ProgramDriver
import Testing

/// `whorl-intruder` confines itself with the code of the reader process and then tries attacks.
@Suite("The confinement of the reader process")
struct ConfinementTests {
  @Test("a hostile reader cannot read or change the store's files", .enabled(if: hasLandlock))
  func files() async throws {
    try await withVictim { folder, _ in
      let key = "\(folder)/store/key"
      let database = "\(folder)/store/vault.db"
      // Each destructive attempt of the unconfined run has a file of its own.
      let attempts = [
        "read=\(key)", "read=\(database)", "write=\(database)", "list=\(folder)/store", "create=\(folder)/store/new",
        "makeFolder=\(folder)/store/folder", "makeLink=\(folder)/store/link", "truncate=\(folder)/truncated",
        "rename=\(folder)/renamed", "remove=\(folder)/removed",
      ]
      for reader in readers {
        try await expect(attempts, areRefusedTo: reader, with: ["Permission denied", "Operation not permitted"])
        #expect(try readFile(key) == Array("secret".utf8))
        #expect(access("\(folder)/removed", F_OK) == 0)
      }
      try await expectDone(attempts)
    }
  }

  @Test("a hostile reader cannot change a file's mode, times, size and attributes by name")
  func attributes() async throws {
    try await withVictim { folder, _ in
      let attempts = ["changeMode", "changeTimes", "truncate"].map { "\($0)=\(folder)/store/key" }
      for reader in readers { try await expect(attempts, areRefusedTo: reader, with: ["Operation not permitted"]) }
      let attribute = ["setAttribute=\(folder)/store/key"]
      for reader in readers { try await expect(attribute, areRefusedTo: reader, with: ["Operation not permitted"]) }
      try await expectDone(attempts)
      // Some file systems have no attributes. The error shows that the call got past the filter.
      let unconfined = try await run("free", "libfprint", attribute)
      let results = ["done", "Operation not supported"].map { ["\(attribute[0]): \($0)"] }
      #expect(results.contains(unconfined), "\(unconfined)")
    }
  }

  @Test("a hostile reader cannot connect or send to any socket, or use the network")
  func sockets() async throws {
    try await withVictim { folder, _ in
      let streams = try Listener(SOCK_STREAM, at: "\(folder)/stream")
      let datagrams = try Listener(SOCK_DGRAM, at: "\(folder)/datagram")
      let attempts = [
        "connect=\(streams.path)", "sendDatagram=\(datagrams.path)", "sendDatagramFromPair=\(datagrams.path)",
        "internetSocket", "routingSocket",
      ]
      for reader in readers {
        try await expect(attempts, areRefusedTo: reader, with: ["Operation not permitted"])
        #expect(!datagrams.hasMessage)
      }
      try await expectDone(attempts)
      #expect(datagrams.hasMessage)
    }
  }

  @Test("a hostile reader cannot start programs and processes, or reach other processes")
  func processes() async throws {
    try await withVictim { _, victim in
      let attempts = [
        "child", "outlive", "trace=\(victim)", "readMemory=\(victim)", "signal=\(victim)", "openProcess=\(victim)",
        "execute=/bin/echo",
      ]
      for reader in readers { try await expect(attempts, areRefusedTo: reader, with: ["Operation not permitted"]) }
      let free = try await run("free", "libfprint", attempts)
      #expect(free.dropLast() == attempts.dropLast().map { "\($0): done" })
      #expect(free.last == "executed")
    }
  }

  @Test("a hostile reader cannot read other processes' memory and environment in procfs", .enabled(if: hasLandlock))
  func procfs() async throws {
    try await withVictim { _, victim in
      let attempts = ["openMemory=\(victim)", "openEnvironment=\(victim)"]
      for reader in readers { try await expect(attempts, areRefusedTo: reader, with: ["Permission denied"]) }
      try await expectDone(attempts)
    }
  }

  @Test("a hostile reader cannot use kernel facilities that no reader needs")
  func kernel() async throws {
    let attempts = [
      "ring", "pageFaults", "program", "counters", "keyring", "namespace", "mount", "sharedMemory", "type",
    ]
    for reader in readers { try await expect(attempts, areRefusedTo: reader, with: ["Operation not permitted"]) }
    // Some of these arguments are invalid. The error shows whether the call got past the filter.
    for line in try await run("free", "libfprint", attempts) {
      #expect(!line.hasSuffix("Operation not permitted"), "\(line)")
    }
    // The C library then uses `clone`, whose flags the filter can check.
    #expect(
      try await run("confined", "libfprint", ["cloneWithArguments"])
        == ["cloneWithArguments: Function not implemented"])
  }

  @Test("a confined reader can read what it needs, and fprintd's templates only if fprintd may drive it")
  func allowed() async throws {
    try await withVictim { folder, _ in
      let templates = "\(folder)/templates"
      try await expect("done", of: ["list=/usr/lib", "read=/dev/urandom", "write=/dev/null", "list=/sys"], by: "auto")
      let reading = ["read=\(templates)/print", "list=\(templates)"]
      for reader in ["auto", "fprintd"] { try await expect("done", of: reading, by: reader, templates) }
      guard hasLandlock else { return }
      try await expect("Permission denied", of: reading, by: "libfprint", templates)
      try await expect("Permission denied", of: ["write=\(templates)/print"], by: "fprintd", templates)
    }
  }

  @Test("the confinement of a reader is refused while a second thread runs, which would stay unconfined")
  func late() async throws {
    #expect(
      try await run("late", "libfprint", ["list=/usr"])
        == ["not confined: there are threads already: Device or resource busy"])
  }

  @Test("the real reader process is confined")
  func realProcess() async throws {
    for kind in [VirtualReader.Kind.image, .storage] {
      try await VirtualReader.with(kind) { reader in
        try await reader.open()
        let process = try #require(ProgramDriver.processes(with: reader.socket).first)
        let status = String(decoding: try readFile("/proc/\(process)/status"), as: UTF8.self)
        #expect(status.contains("NoNewPrivs:\t1\n"))
        #expect(status.contains("Seccomp:\t2\n"))
      }
    }
  }

  // MARK: Attempts

  private let readers = ["auto", "fprintd", "libfprint", "virtual-image:/nonexistent/socket"]

  private func expect(
    _ attempts: [String], areRefusedTo reader: String, with reasons: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let lines = try await run("confined", reader, attempts)
    #expect(lines.count == attempts.count, "\(lines)", sourceLocation: sourceLocation)
    for (attempt, line) in zip(attempts, lines) {
      #expect(reasons.map { "\(attempt): \($0)" }.contains(line), "to \(reader)", sourceLocation: sourceLocation)
    }
  }

  private func expect(
    _ result: String, of attempts: [String], by reader: String, _ templates: String = "/nonexistent",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let lines = try await run("confined", reader, attempts, templates: templates)
    #expect(lines == attempts.map { "\($0): \(result)" }, "by \(reader)", sourceLocation: sourceLocation)
  }

  /// Checks that the attempts succeed without the confinement, so that it is the confinement that denies them.
  private func expectDone(_ attempts: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
    #expect(
      try await run("free", "libfprint", attempts) == attempts.map { "\($0): done" }, sourceLocation: sourceLocation)
  }

  private func run(
    _ mode: String, _ reader: String, _ attempts: [String], templates: String = "/nonexistent"
  ) async throws -> [String] {
    let result = try await Invocation(program: "whorl-intruder", arguments: [mode, reader, templates] + attempts).run()
    return result.text.split(separator: "\n").map(String.init)
  }

  /// A folder with the files of a store, files to destroy, and a process to attack.
  private func withVictim(_ body: (_ folder: String, _ process: pid_t) async throws -> Void) async throws {
    try await withFolder { folder in
      for name in ["store", "templates"] { try #require(mkdirPrivate("\(folder)/\(name)")) }
      for name in ["store/key", "store/vault.db", "templates/print", "truncated", "renamed", "removed"] {
        try writeFile("\(folder)/\(name)", Array("secret".utf8))
      }
      let victim = try Invocation(program: "/bin/sleep", arguments: ["60"]).start()
      defer {
        victim.signal(SIGKILL)
        _ = victim.finish { _, _ in }
      }
      try await body(folder, victim.pid)
    }
  }
}

/// Without Landlock in the kernel, the reader process is confined by seccomp alone.
private let hasLandlock = Landlock.version != nil

/// A listening socket of another program.
private final class Listener {
  let path: String
  private let descriptor: Int32

  init(_ kind: __socket_type, at path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    if kind == SOCK_STREAM { try #require(listen(descriptor, 4) == 0) }
  }

  var hasMessage: Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) == 1
  }

  deinit { close(descriptor) }
}
