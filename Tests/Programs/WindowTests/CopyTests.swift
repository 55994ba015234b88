import Glibc
import ProgramDriver
import Testing

@Suite("What the window copies")
struct CopyTests {
  /// The window over a store with two secrets.
  private func shown(_ body: (WindowOnDisplay) async throws -> Void) async throws {
    try await TestStore.enrolled { store in
      try await store.set("mail/alice", "a secret of mine", "--access", "presence")
      try await store.set("bank", "ein Schlüssel", "--access", "presence")
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder, body)
    }
  }

  /// Copies a secret, and returns when it is over.
  private func copy(_ name: String, in window: WindowOnDisplay) async throws -> ContinuousClock.Instant {
    try await window(
      .click(name), .press("Copy"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .gone("Confirm"))
    // The message about another copy may still be shown.
    let secret = name == "bank" ? "ein Schlüssel" : "a secret of mine"
    for _ in 0..<200 where try await window.pasted() != secret { try await Task.sleep(for: .milliseconds(50)) }
    #expect(try await window.pasted() == secret)
    return .now + .seconds(30)
  }

  @Test("A copied secret can be pasted for 30 seconds also when the window is closed, and nothing from then on")
  func over() async throws {
    try await shown { window in
      let end = try await copy("mail/alice", in: window)
      try await window(.press("Close"))
      try await Task.sleep(until: end - .seconds(10))
      #expect(try await window.pasted() == "a secret of mine")
      try await Task.sleep(until: end + .seconds(1))
      #expect(try await window.pasted() == "")
      // Else the desktop would put back what it has kept of the secret.
      try await Task.sleep(for: .seconds(2))
      #expect(window.isRunning)
      try await window.copyElsewhere("from elsewhere")
      try await window.hasEnded()
      #expect(try await window.pasted() == "from elsewhere")
    }
  }

  @Test("A second copied secret can be pasted for its own 30 seconds, and what another program copies stays")
  func again() async throws {
    try await shown { window in
      let first = try await copy("mail/alice", in: window)
      try await Task.sleep(until: first - .seconds(15))
      try await window(.press("Back"))
      let second = try await copy("bank", in: window)
      try await Task.sleep(until: first + .seconds(1))
      #expect(try await window.pasted() == "ein Schlüssel")
      try await window.copyElsewhere("from elsewhere")
      try await Task.sleep(until: second + .seconds(1))
      #expect(try await window.pasted() == "from elsewhere")
      try await window(.press("Close"))
      try await window.hasEnded()
    }
  }
}
