import Glibc
import ProgramDriver
import Testing
import VaultDriver

/// Kills a command, the vault that it starts, and the vault's reader process in every order.
@Suite("Killed processes", .serialized)
struct LifeTests {
  private static let orders: [[Family.Member]] = [
    [.client], [.vault], [.reader],
    [.client, .vault], [.client, .reader], [.vault, .client], [.vault, .reader], [.reader, .client], [.reader, .vault],
    [.client, .vault, .reader], [.client, .reader, .vault], [.vault, .client, .reader], [.vault, .reader, .client],
    [.reader, .client, .vault], [.reader, .vault, .client],
  ]

  @Test("processes killed while whorl get awaits a finger leave nothing behind, and cost at most one failure")
  func duringScan() async throws {
    try await TestStore.enrolled { store in
      try store.snapshot("before")
      var random = Campaign.Generator("life during a scan")
      for round in 0..<Campaign.count(short: 1, long: 20) {
        for order in Campaign.sample(Self.orders, short: 5, of: "orders of kills \(round)") {
          try store.restore("before")
          let wait = UInt32.random(in: 0..<30_000, using: &random)
          let victims = Victims()
          let call = store.call("get", "any-finger")
          let result = try await store.run(call) { line, program in
            guard line.contains("the reader (virtual reader)") else { return }
            victims.kill(order, of: program, after: wait)
          }
          #expect(result.output.isEmpty, "\(order)")
          #expect(victims.count == 3, "\(order): \(victims.count) processes while a finger was waited for")
          #expect(try await victims.areGone(), "\(order): a process is left")
          let failures = try await store.status().number("failures")
          // A killed vault cannot record that nobody touched the reader. A vault whose client ends does.
          switch order {
          case [.vault], [.vault, .client], [.vault, .reader], [.vault, .client, .reader], [.vault, .reader, .client]:
            #expect(failures == 1, "\(order)")
          case [.client]: #expect(failures == 0, "\(order)")
          default: #expect(failures <= 1, "\(order)")
          }
          // No lock is left behind: the next call works.
          #expect(try await store.whorl("get", "open").text == "open", "\(order)")
          let touched = try await store.run(call, [.right])
          #expect(touched.text == "any-finger", "\(order): \(touched.diagnostics)")
        }
      }
    }
  }

  @Test("whorl set --replace whose processes are killed leaves the old or the new secret, and no process")
  func duringCommit() async throws {
    try await TestStore.enrolled { store in
      var random = Campaign.Generator("life during a commit")
      var left = "open"
      for round in 0..<Campaign.count(short: 12, long: 500) {
        let order = try #require(
          [[Family.Member.client], [.vault], [.client, .vault], [.vault, .client]]
            .randomElement(using: &random))
        let wait = UInt32.random(in: 0..<40_000, using: &random)
        let next = "secret \(round)"
        let running = try store.call("set", "open", "--access", "none", "--replace", input: next).start()
        usleep(wait)
        let family = Family(of: running.pid)
        for member in order { family.kill(member) }
        _ = running.finish { _, _ in }
        #expect(try await family.isGone(), "round \(round): a process is left")
        let now = try await store.whorl("get", "open").text
        #expect(now == left || now == next, "round \(round), \(order) after \(wait) µs")
        left = now
      }
    }
  }

  @Test("Ctrl-C ends a whorl command, its vault and its reader process")
  func interrupted() async throws {
    try await TestStore.enrolled { store in
      let victims = Victims()
      let result = try await store.run(store.call("get", "any-finger")) { line, program in
        guard line.contains("the reader (virtual reader)") else { return }
        usleep(100_000)
        victims.note(program)
        program.signal(SIGINT)
      }
      #expect(result.status == 128 + SIGINT)
      #expect(try await victims.areGone())
      #expect(try await store.status().number("failures") == 0)
    }
  }

  @Test("Ctrl-C ends a whorl command whose vault hangs")
  func hanging() async throws {
    try await TestStore.enrolled { store in
      let victims = Victims()
      let result = try await store.run(store.call("get", "any-finger")) { line, program in
        guard line.contains("the reader (virtual reader)") else { return }
        usleep(100_000)
        let family = victims.note(program)
        family.signal(.vault, SIGSTOP)
        program.signal(SIGINT)
      }
      #expect(result.status == 128 + SIGINT)
      // It continues, notices that its client has ended, and ends.
      victims.signal(.vault, SIGCONT)
      #expect(try await victims.areGone())
    }
  }

  @Test("whorl run replaces itself with the command, after its vault has ended")
  func replaced() async throws {
    try await TestStore.enrolled { store in
      let script = "echo ready >&2; read line; echo \"$SECRET\""
      let victims = Victims()
      let invocation = Invocation(
        arguments: store.arguments(["run", "--env", "SECRET=open", "--", "/bin/sh", "-c", script]), input: [10])
      let result = try await invocation.run { line, program in
        if line == "ready" { victims.note(program) }
      }
      #expect(result.text == "open\n")
      #expect(victims.count == 1, "the command's own process alone")
    }
  }
}
