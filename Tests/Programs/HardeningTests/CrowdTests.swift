import Glibc
import Primitives
import ProgramDriver
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Many programs at the same time")
struct CrowdTests {
  @Test("whorl commands that set, get, list and remove at once all finish with their own secrets, and lose nothing")
  func programs() async throws {
    try await TestStore.with { store in
      try await store.set("shared", "shared", "--access", "none")
      let count = Campaign.count(short: 40, long: 500)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          // More at the same time would only compete for the processors.
          if number >= 40 { try await group.next() }
          group.addTask { try await Self.visit(store, number) }
        }
        try await group.waitForAll()
      }
      let listed = try await store.whorl("ls").text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
      #expect(listed.sorted() == (["shared"] + (0..<count).map { "item-\($0)" }).sorted())
      for number in [0, count / 2, count - 1] {
        #expect(try await store.whorl("get", "item-\(number)").text == "second \(number)")
      }
      #expect(try await !store.status().isTrue("restoreDetected"))
    }
  }

  private static func visit(_ store: TestStore, _ number: Int) async throws {
    let name = "item-\(number)"
    let calls: [(call: Invocation, output: String?)] = [
      (store.call("set", name, "--access", "none", input: "first \(number)"), ""),
      (store.call("get", "shared", name), "shared\nfirst \(number)"),
      (store.call("ls"), nil),
      (store.call("set", name, "--access", "none", "--replace", input: "second \(number)"), ""),
      (store.call("set", "\(name)-gone", "--access", "none", input: "x"), ""),
      (store.call("rm", "\(name)-gone"), ""),
      (store.call("get", name), "second \(number)"),
    ]
    for (call, output) in calls {
      var result = try await call.run()
      // Many programs may keep the store busy for ten seconds. A program then gives up and tells the user to try again.
      for _ in 1...5 where Campaign.isLong && result.status == 75 { result = try await call.run() }
      #expect(result.status == 0, "\(call.arguments): \(result.diagnostics)")
      if let output { #expect(result.text == output, "\(call.arguments)") }
    }
  }

  @Test("reads of a vault leave no descriptor and no memory behind", .timeLimit(.minutes(Campaign.isLong ? 20 : 5)))
  func sessions() async {
    // In a separate process, so that all descriptors belong to the vault.
    await onOwnThread {
      await #expect(processExitsWith: .success) {
        let store = try await ScratchStore()
        let reader = ScriptedReader()
        let vault = try store.open(reader: reader)
        _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) {
          try await vault.enroll(.rightIndex, in: $0)
        }
        try await vault.put("item", "secret", .currentSet)
        func visit() async {
          reader.next(.noMatch, .retry)
          do {
            let secret = try await vault.get("item")
            #expect(secret == "secret")
          } catch {
            // An uncaught error would end this process without a message.
            Issue.record(error)
          }
          reader.next(.fails(.removed))
          await #expect(throws: VaultError.reader(.removed)) { try await vault.get("item") }
        }
        // Fill the caches first.
        for _ in 1...20 { await visit() }
        let (descriptors, memory) = (try folderEntries("/proc/self/fd").count, residentPages())
        // A cache fills up once, but a leak grows in each stretch. Two stretches with almost no growth show that there is
        // no leak.
        let stretch = Campaign.count(short: 20, long: 1_000)
        var growth: [Int] = []
        while growth.count < 10, growth.count < 2 || growth.suffix(2).contains(where: { $0 >= 64 }) {
          let before = residentPages()
          for _ in 1...stretch { await visit() }
          growth.append(residentPages() - before)
        }
        #expect(growth.suffix(2).allSatisfy { $0 < 64 }, "pages for each \(stretch) sessions: \(growth)")
        // The last visit's reader is released after its answer.
        for _ in 1...100 where try folderEntries("/proc/self/fd").count > descriptors {
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try folderEntries("/proc/self/fd").count <= descriptors)
        #expect(residentPages() - memory < 1_000, "4 MB; pages for each \(stretch) sessions: \(growth)")
      }
    }
  }

  @Test("whorl get leaves no reader process behind, whether it ends, is cancelled or is killed")
  func readersEnd() async throws {
    try await TestStore.enrolled { store in
      let get = store.call("get", "any-finger")
      for touch in [Touches.Touch.right, .signal(SIGINT), .signal(SIGKILL)] { _ = try await store.run(get, [touch]) }
      var left: [pid_t] = [1]
      for _ in 1...50 where !left.isEmpty {
        left = processes(with: store.folder)
        usleep(100_000)
      }
      #expect(left.isEmpty)
    }
  }
}

/// The number of this process's resident pages.
private func residentPages() -> Int {
  let text = (try? readFile("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
  return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
}
