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

  @Test("do not wake the processor by themselves: an agent, its vault, and its reader's process after a touch")
  func sleep() async throws {
    try await TestStore.enrolled { store in
      let made = try await store.whorl("ssh", "add", "work")
      try made.mustSucceed()
      let key = "\(store.folder)/work.pub"
      try writeFile(key, made.output)
      let options = { ["--socket", $0, "--known-hosts", "/dev/null"] }
      try await RunningAgent.with(store, [.right], started: "listens", arguments: options) { agent in
        try await Invocation(
          program: "/usr/bin/ssh-keygen", arguments: ["-Y", "sign", "-n", "file", "-f", key], input: [1],
          environment: ["SSH_AUTH_SOCK": agent.socket]
        ).run().mustSucceed()
        let family = [agent.pid] + descendants(of: agent.pid)
        #expect(family.count == 3)
        // Timers of the request may still end.
        var isIdle = false
        for _ in 0..<20 where !isIdle {
          let before = family.map { (try? waits(of: $0)) ?? 0 }
          try await Task.sleep(for: .milliseconds(2_500))
          isIdle = family.map { (try? waits(of: $0)) ?? 0 } == before
        }
        #expect(isIdle)
      }
    }
  }
}
