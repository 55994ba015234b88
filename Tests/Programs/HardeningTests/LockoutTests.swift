import Glibc
import Primitives
import ProgramDriver
import Testing

@Suite("The lockout after five failures")
struct LockoutTests {
  @Test("five wrong touches over several commands lock the fingers out; cancels, retries and unplugging cost nothing")
  func spread() async throws {
    try await TestStore.enrolled { store in
      let get = store.call("get", "any-finger")
      func failures() async throws -> Int { try await store.status().number("failures") }
      let interrupted = Touches.Touch.signal(SIGINT)
      let cancelled = 128 + SIGINT
      #expect(try await store.run(get, [.wrong, interrupted]).status == cancelled)
      #expect(try await failures() == 1)
      #expect(try await store.run(get, [interrupted]).status == cancelled)
      #expect(try await store.run(get, [.retry(.tooShort), .retry(.general), .wrong, interrupted]).status == cancelled)
      #expect(try await failures() == 2, "cancels and retries cost nothing")
      #expect(try await store.run(get, [.unplug]).status == 69)
      #expect(try await failures() == 2, "nor does unplugging")
      #expect(try await store.call("unlock", passcode: ["wrong"]).run().status == 77)
      #expect(try await failures() == 2, "nor does a passcode, which has a count of its own")
      #expect(try await store.run(get, [.wrong, .wrong, interrupted]).status == cancelled)
      #expect(try await failures() == 4)
      let fifth = try await store.run(get, [.retry(.centerFinger), .wrong, .right])
      #expect(fifth.status == 77 && fifth.output.isEmpty)
      #expect(fifth.failure.contains("fingers are locked out after five touches"), "\(fifth.diagnostics)")
      for name in ["any-finger", "current-set", "presence"] {
        let sixth = try await store.run(store.call("get", name), [.right])
        #expect(sixth.status == 77 && sixth.output.isEmpty)
        #expect(sixth.asked == 0, "the reader is not even armed")
      }
      #expect(try await store.call("unlock", passcode: [TestStore.passcode]).run().status == 0)
      #expect(try await store.run(get, [.right]).text == "any-finger")
    }
  }
}
