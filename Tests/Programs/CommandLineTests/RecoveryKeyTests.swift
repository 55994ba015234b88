import ProgramDriver
import Testing

@Suite("A recovery key that is typed")
struct RecoveryKeyTests {
  private static let question = "Recovery key: "

  private func type(_ terminal: PseudoTerminal, _ text: String, count: Int) async throws {
    try await terminal.waits(for: Self.question, count: count)
    try await terminal.becomes(echoing: false)
    terminal.type(text)
  }

  @Test("whorl recover asks again for as many mistyped recovery keys as a person types, and shows one after Tab")
  func retyped() async throws {
    try await TestStore.with { store in
      try await TestStore.withoutPasscode { other in
        let terminal = try PseudoTerminal(store.arguments(["recover"]))
        try await terminal.waits(for: "Tab shows what you type.")
        var cut = store.recoveryKey
        cut.removeLast()
        let wrong = ["nonsense", other.recoveryKey, cut, other.recoveryKey, "no", "again"]
        for (index, word) in wrong.enumerated() {
          try await type(terminal, "\(word)\n", count: index + 1)
          try await terminal.waits(for: "Type it again, or press Enter alone to stop.", count: index + 1)
        }
        #expect(terminal.shown.contains("This is not the recovery key of this store"), "\(terminal.shown)")
        #expect(!terminal.shown.contains(cut))
        try await type(terminal, "\(cut)?\u{7F}", count: wrong.count + 1)
        terminal.type("\t")
        try await terminal.waits(for: Self.question + cut)
        terminal.type("\(store.recoveryKey.suffix(1))\n")
        try await terminal.waits(for: "New passcode: ")
        #expect(terminal.shown.contains(store.recoveryKey))
        terminal.type("another horse\n")
        try await terminal.waits(for: "New passcode, again: ")
        terminal.type("another horse\n")
        #expect(try await terminal.status() == 0, "\(terminal.shown)")
      }
    }
  }

  @Test("Enter alone ends the question for a recovery key, and a script's wrong key is not asked for again")
  func ended() async throws {
    try await TestStore.with { store in
      let terminal = try PseudoTerminal(store.arguments(["recover"]))
      try await type(terminal, "nonsense\n", count: 1)
      try await type(terminal, "\n", count: 2)
      #expect(try await terminal.status() == 77)
      let script = try await store.whorl("recover", "--recovery-fd", "3", descriptors: ["nonsense\n"])
      #expect(script.status == 77 && !script.diagnostics.contains("Type it again"), "\(script.diagnostics)")
    }
  }
}
