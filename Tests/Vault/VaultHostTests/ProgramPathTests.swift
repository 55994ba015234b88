import Glibc
import Processes
import ProgramDriver
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import VaultHost

@Suite("Paths of client programs", .timeLimit(.minutes(2)))
struct ProgramPathTests {
  private static func arguments(for user: String) throws -> [String] {
    [try Programs.path("whorl-program-path"), "--unit-for", user]
  }

  /// The unit's answer about a process, as the service asks; empty where the unit closes the connection at once.
  private func answer(about process: Int32, at path: String) throws -> String {
    let socket = try UnitPath(path, madeBy: getuid()).connect()
    defer { close(socket) }
    var request = process
    guard send(socket, &request, MemoryLayout<Int32>.size, Int32(MSG_NOSIGNAL)) == MemoryLayout<Int32>.size else {
      guard errno == EPIPE || errno == ECONNRESET else { throw RunningService.Failed(what: "send") }
      return ""
    }
    // The socket does not block.
    var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 10_000) > 0 else { throw RunningService.Failed(what: "no answer") }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      // recv: writes at most as many bytes as it is told
      count = max(0, recv(socket, buffer.baseAddress, buffer.count, 0))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func ownPath() throws -> String {
    var buffer = [CChar](repeating: 0, count: 4_096)
    // readlink: writes at most as many bytes as it is told
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    try #require(count > 0)
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The unit's answer about this process: the file's device, inode and owner, and its path.
  private func ownAnswer() throws -> String {
    var status = stat()
    try #require(stat("/proc/self/exe", &status) == 0)
    return "\(status.st_dev) \(status.st_ino) \(status.st_uid) at \(try ownPath())"
  }

  @Test("a client program with another file mounted over its path is shown as sandboxed, without a path")
  func sandboxed() async throws {
    let folder = try RunningService.makeFolder()
    let socket = folder + "/socket"
    try await Sandboxed.with(over: "/usr/bin/env") { process in
      try await UnitLauncher.with(program: Self.arguments(for: UnitLauncher.ownName()), at: socket) { unit in
        var status = stat()
        try #require(stat("/proc/\(process)/exe", &status) == 0)
        let expected = "\(status.st_dev) \(status.st_ino) \(status.st_uid) elsewhere "
        #expect(try await eventually { try answer(about: process, at: unit.path) == expected })
        let paths = ProgramPaths(unit: UnitPath(socket, madeBy: getuid()))
        let started = try #require(ProcessHandle.start(of: process))
        let caller = Caller(user: getuid(), process: .init(id: process, started: started), label: "env")
        let named = await paths.named(caller)
        #expect(named.label == "env (in a sandbox)")
        let file = ProgramFile(
          device: UInt64(status.st_dev), inode: UInt64(status.st_ino), owner: status.st_uid)
        #expect(named.file == file)
      }
    }
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test(
    "a client program that was opened where its file is mounted over an installed program's has no path",
    arguments: [true, false])
  func smuggled(removing: Bool) async throws {
    let folder = try RunningService.makeFolder()
    let socket = folder + "/socket"
    try await Sandboxed.smuggled(over: "/usr/bin/env", removing: removing) { process in
      try await UnitLauncher.with(program: Self.arguments(for: UnitLauncher.ownName()), at: socket) { unit in
        let ending = removing ? " was /usr/bin/env" : " elsewhere "
        #expect(try await eventually { try answer(about: process, at: unit.path).hasSuffix(ending) })
        let started = try #require(ProcessHandle.start(of: process))
        let caller = Caller(user: getuid(), process: .init(id: process, started: started), label: "env")
        let paths = ProgramPaths(unit: UnitPath(socket, madeBy: getuid()))
        let named = await paths.named(caller)
        #expect(named.label == (removing ? "env (updated or removed: /usr/bin/env)" : "env (in a sandbox)"))
      }
    }
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("the unit that reads the paths of client programs serves one user only")
  func unit() async throws {
    let folder = try RunningService.makeFolder()
    let own = try ownAnswer()
    try await UnitLauncher.with(
      program: Self.arguments(for: UnitLauncher.ownName()), at: folder + "/socket"
    ) { unit in
      // The unit waits a second for a request, which a busy machine may take.
      #expect(try await eventually { try answer(about: getpid(), at: unit.path) == own })
      for process in [0, -1, Int32.max] {
        let nothing = try answer(about: process, at: unit.path)
        #expect(nothing.isEmpty)
      }
      #expect(try await eventually { try answer(about: getpid(), at: unit.path) == own })
      #expect(unit.starts == 1)
    }
    try await UnitLauncher.with(program: Self.arguments(for: "nobody"), at: folder + "/other") { unit in
      let refused = try answer(about: getpid(), at: unit.path)
      #expect(refused.isEmpty)
      #expect(unit.starts == 1)
    }
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }

  @Test("the log has the paths of client programs, unless the unit that reads them is gone", arguments: [true, false])
  func labels(_ isInstalled: Bool) async throws {
    let folder = try RunningService.makeFolder()
    let socket = folder + "/socket"
    let labels = Mutex<[String?]>([])
    let make = { () async throws in
      let service = try RunningService(
        callers: { Caller(user: $0.user, process: $0.process, label: "program") },
        programPaths: ProgramPaths(unit: UnitPath(socket, madeBy: getuid())),
        journal: { entry, _ in labels.withLock { $0.append(entry.program) } })
      try await service.makeStore()
      let connection = try service.connect()
      try await connection.open(.own).lock()
      await connection.close()
      try await service.end()
    }
    if isInstalled {
      try await UnitLauncher.with(program: Self.arguments(for: UnitLauncher.ownName()), at: socket) { _ in
        try await make()
      }
    } else {
      try await make()
    }
    let own = try ownPath()
    let expected = isInstalled ? ProgramLabel.text("program", path: own) : "program"
    #expect(try await eventually { labels.withLock { $0.count } == 2 })
    #expect(labels.withLock { $0 } == [expected, expected])
    try ScratchStore.run("/bin/rm", ["-rf", folder])
  }
}
