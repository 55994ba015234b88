import Glibc
import ProgramDriver
import Testing

@Suite("Programs that wait for requests")
struct IdleTests {
  /// How often the threads of a process have waited so far.
  private func waits(of process: pid_t) throws -> Int {
    var sum = 0
    for thread in try folderEntries("/proc/\(process)/task") {
      // A thread may have ended meanwhile.
      guard let bytes = try? readFile("/proc/\(process)/task/\(thread)/status") else { continue }
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let words = line.split(whereSeparator: \.isWhitespace)
        if words.first == "voluntary_ctxt_switches:", let count = words.last.flatMap({ Int($0) }) { sum += count }
      }
    }
    return sum
  }

  @Test("do not wake the processor by themselves: an agent and its vault, after a passcode")
  func sleep() async throws {
    try await TestStore.enrolled { store in
      let made = try await store.whorl("ssh", "add", "work")
      try made.mustSucceed()
      let key = "\(store.folder)/work.pub"
      try writeFile(key, made.output)
      let socket = "\(store.folder)/agent"
      let terminal = try PseudoTerminal(
        ["--socket", socket, "--store", store.directory, "--known-hosts", "/dev/null"] + store.reader,
        program: "whorl-agent")
      try await terminal.waits(for: "whorl-agent: listens")
      func sign() async throws -> Invocation.Result {
        try await Invocation(
          program: "/usr/bin/ssh-keygen", arguments: ["-Y", "sign", "-n", "file", "-f", key], input: [1],
          environment: ["SSH_AUTH_SOCK": socket]
        ).run()
      }
      // The passcode is stretched on a thread of its own, and the match is awaited.
      async let signed = sign()
      try await terminal.waits(for: "Esc: cancel)")
      try await terminal.becomes(echoing: false)
      terminal.type("\n")
      try await terminal.waits(for: ". Passcode")
      terminal.type("\(TestStore.passcode)\n")
      try await signed.mustSucceed()
      let family = [terminal.pid] + descendants(of: terminal.pid)
      #expect(family.count >= 2)
      // Timers of the request may still end.
      var isIdle = false
      for _ in 0..<20 where !isIdle {
        let before = family.map { (try? waits(of: $0)) ?? 0 }
        try await Task.sleep(for: .milliseconds(2_500))
        isIdle = family.map { (try? waits(of: $0)) ?? 0 } == before
      }
      #expect(isIdle)
      terminal.signal(SIGTERM)
      #expect(try await terminal.status() == 0)
    }
  }
}
