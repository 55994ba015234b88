import Glibc
import Primitives
import ProgramDriver
import Testing

@Suite("With a finger on the virtual image reader")
struct FingerTests {
  @Test("a secret is released to the enrolled finger and refused to another")
  func released() async throws {
    try await TestStore.with { store in
      let enrolled = try await store.enroll()
      #expect(enrolled.status == 0, "\(enrolled.diagnostics)")
      #expect(enrolled.output.isEmpty)
      for stage in 1...5 { #expect(enrolled.diagnostics.contains("Stage \(stage) of 5")) }
      #expect(enrolled.diagnostics.contains("(virtual reader)"))
      for access in ["presence", "current-set", "any-finger"] {
        let stored = try await store.touched(
          ["set", access, "--access", access], [], input: Array("secret of \(access)".utf8))
        #expect(stored.status == 0, "\(stored.diagnostics)")
      }
      let right = try await store.touched(
        ["get", "presence", "current-set", "any-finger", "--reason", "the test"], [.right])
      #expect(right.status == 0, "\(right.diagnostics)")
      #expect(right.text == "secret of presence\nsecret of current-set\nsecret of any-finger")
      #expect(right.diagnostics.contains("to use “presence”, “current-set”, “any-finger”, for: the test"))
      let wrong = try await store.touched(["get", "presence"], [.wrong, .wrong, .wrong])
      #expect(wrong.status == 77)
      #expect(wrong.output.isEmpty)
      #expect(
        wrong.failure
          == "whorl: get: three touches did not match an enrolled finger: try again with one that 'whorl fingers' lists, "
          + "clean and dry; where the passcode is taken in its place, press Enter at the prompt"
      )
      #expect(wrong.diagnostics.contains("No match, 2 touches left"))
      let environment = try await store.touched(
        ["run", "--env", "S=any-finger", "--", "/bin/sh", "-c", "echo $S"], [.right])
      #expect(environment.text == "secret of any-finger\n")
    }
  }

  @Test("a second finger destroys items that are bound to the set of fingers, for good, and no others")
  func changedSet() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      for access in ["current-set", "any-finger"] {
        #expect(try await store.touched(["set", access, "--access", access], [], input: [0x78]).status == 0)
      }
      let asked = try await store.touched(["enroll", "left-thumb"], [], passcode: [TestStore.passcode])
      #expect(asked.status == 77)
      #expect(asked.diagnostics.contains("destroys 1 item"))
      #expect(asked.failure.contains("--yes"))
      let second = try await store.enroll("left-thumb", .thumb)
      #expect(second.status == 0, "\(second.diagnostics)")
      #expect(second.diagnostics.contains("Lost: current-set"))
      let dead = try await store.touched(["get", "current-set"], [.right])
      #expect(dead.status == 77)
      #expect(dead.failure.contains("current-set is dead"))
      #expect(try await store.touched(["get", "any-finger"], [.thumb]).text == "x")
      let json = try await store.whorl("fingers", "--json").text
      #expect(json.contains(#""finger":"right-index""#) && json.contains(#""finger":"left-thumb""#))
      let undone = try await store.touched(
        ["unenroll", "left-thumb", "--yes", "--json"], [], passcode: [TestStore.passcode])
      #expect(undone.status == 0)
      #expect(undone.text == #"{"finger":"left-thumb","fingers":["right-index"],"lost":[]}"# + "\n")
      #expect(try await store.touched(["get", "current-set"], [.right]).status == 77)
      let missing = try await store.unlocked("unenroll", "left-thumb")
      #expect(missing.status == 66)
    }
  }

  @Test("a finger that is enrolled already is not enrolled under another name")
  func duplicate() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      let again = try await store.enroll("left-thumb", .right)
      #expect(again.status == 73, "\(again.diagnostics)")
      #expect(again.failure.contains("enrolled already as the right index"))
    }
  }

  @Test("five touches in a row without a match lock fingers out in all processes until the passcode")
  func lockout() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("a", "secret")
      try await store.set("f", "finger only", "--access", "any-finger")
      #expect(try await store.touched(["get", "f"], [.wrong, .wrong, .wrong]).status == 77)
      let fifth = try await store.touched(["get", "f"], [.wrong, .wrong, .wrong])
      #expect(fifth.status == 77)
      let locked = try await store.touched(["get", "f"], [.right])
      #expect(locked.status == 77)
      #expect(locked.failure.contains("fingers are locked out after five touches"))
      #expect(try await store.whorl("status").text.contains("fingers   locked until the passcode"))
      #expect(try await store.whorl("status", "--json").text.contains(#""lockedOut":true"#))
      #expect(try await store.unlocked("get", "a").text == "secret", "the passcode still stands in, and clears it")
      #expect(try await store.touched(["get", "f"], [.right]).text == "finger only")
    }
  }

  @Test("a retry and a cancelled scan do not count as failures, and the retry is reported")
  func retries() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("f", "x", "--access", "any-finger")
      let retried = try await store.touched(["get", "f"], [.retry(.tooShort), .retry(.centerFinger), .right])
      #expect(retried.text == "x", "\(retried.diagnostics)")
      #expect(retried.diagnostics.contains("Too short"))
      #expect(retried.diagnostics.contains("Off centre"))
      #expect(try await store.touched(["get", "f"], [.signal(SIGTERM)]).status == 128 + SIGTERM)
      #expect(try await store.whorl("status", "--json").text.contains(#""failures":0"#))
    }
  }

  @Test(
    "a signal while a finger is awaited ends the command and releases the reader",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func interrupted(_ signal: Int32) async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("f", "x", "--access", "any-finger")
      let program = try Invocation(arguments: store.arguments(["get", "f"] + store.reader)).start()
      let result = await withCheckedContinuation { continuation in
        startThread {
          continuation.resume(
            returning: program.finish { _, program in program.signal(signal) })
        }
      }
      #expect(result.status == 128 + signal)
      #expect(result.output.isEmpty)
      #expect(result.failure == "whorl: get: cancelled: run it again")
      #expect(try await store.touched(["get", "f"], [.right]).text == "x")
    }
  }

  @Test("no finger in time is status 75, an unplugged reader 69, and neither counts as a failure")
  func endings() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("f", "x", "--access", "any-finger")
      let late = try await store.touched(["get", "f", "--timeout", "0.5"], [])
      #expect(late.status == 75)
      #expect(late.duration < .seconds(5))
      let unplugged = try await store.touched(["get", "f"], [.unplug])
      #expect(unplugged.status == 69)
      #expect(unplugged.failure.contains("the reader was unplugged: attach it"))
      #expect(try await store.whorl("status", "--json").text.contains(#""failures":0"#))
    }
  }

  @Test("two programs with one store at once each get their own touch and secret")
  func atOnce() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("one", "first", "--access", "any-finger")
      try await store.set("two", "second", "--access", "any-finger")
      async let one = store.touched(["get", "one"], [.right])
      async let two = store.touched(["get", "two"], [.right])
      #expect(try await one.text == "first")
      #expect(try await two.text == "second")
    }
  }
}
