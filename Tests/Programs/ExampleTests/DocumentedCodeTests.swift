import Primitives
import ProgramDriver
import Testing
import VirtualFinger

@Suite("A program that was written from Apple's documentation alone")
struct DocumentedCodeTests {
  @Test("a program written from Apple's documentation alone finds everything as documented", .timeLimit(.minutes(5)))
  func all() async throws {
    try await TestStore.enrolled { store in
      let home = "\(store.folder)/home"
      try #require(mkdirPrivate(home) && mkdirPrivate("\(home)/whorl"))
      let configuration = #"{"store": "\#(store.directory)", "reader": "virtual-image:\#(store.socket)"}"#
      try writeFile("\(home)/whorl/config.json", Array(configuration.utf8))
      let terminal = try PseudoTerminal([], program: "documented-code", environment: ["XDG_CONFIG_HOME": home])
      let reader = VirtualImageReader(socket: store.socket, patience: .seconds(10))
      // A person who touches the reader whenever asked.
      let person = Task {
        var touches = 0
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(300))
          guard terminal.shown.ranges(of: "the reader (virtual reader)").count > touches else { continue }
          touches += 1
          // The program may have withdrawn the request.
          try? await onThread { try reader.press(Fingers.right.impression(.random(in: 0..<1 << 40))) }
        }
      }
      defer { person.cancel() }
      #expect(try await terminal.status(seconds: 200) == 0, "\(terminal.shown)")
      #expect(terminal.shown.contains(" passed, 0 failed"), "\(terminal.shown)")
    }
  }
}
