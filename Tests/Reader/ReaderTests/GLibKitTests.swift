import ProgramDriver
import Testing

/// Runs `glib-checks`, because the test runner does not link GLib.
@Suite("GLibKit")
struct GLibKitTests {
  private func lines(_ check: String) async throws -> (output: [String], errors: String) {
    let result = try await Invocation(program: "glib-checks", arguments: [check]).run()
    #expect(result.status == 0, "\(result.text)\(result.diagnostics)")
    return (result.text.split(separator: "\n").map(String.init), result.diagnostics)
  }

  @Test("GLibKit releases exactly the references it owns")
  func references() async throws {
    #expect(try await lines("references").output == ["two references: 2", "one reference: 1", "none: gone"])
  }

  @Test("GLibKit reads properties, and returns nil or false for those that are missing or of another type")
  func properties() async throws {
    let (output, errors) = try await lines("properties")
    #expect(
      output == [
        "string: touch", "Boolean: true", "object: true", "no such property: nil false", "no object: true",
        "another type: nil false true",
      ])
    // GLib would print a warning for a property that does not exist.
    #expect(errors.isEmpty)
  }

  @Test("GLibKit calls an observer at every change of its property, until the observation ends")
  func observation() async throws {
    #expect(try await lines("observation").output == ["changes: 2", "changes after the observation: 2"])
  }

  @Test("GLibKit reports GLib's errors with their domain, code and message")
  func errors() async throws {
    #expect(try await lines("errors").output == ["failure: true 4 true", "success: true"])
  }

  @Test("GLibKit resumes a task with the result of an asynchronous call, on the thread of the main context")
  func asynchronous() async throws {
    #expect(try await lines("asynchronous").output == ["skipped: 0"])
  }

  @Test("GLibKit reports the result of a call that had succeeded before it was cancelled")
  func late() async throws {
    #expect(try await lines("late").output == ["skipped: 0, cancelled: true"])
  }

  @Test("GLibKit cancels later, on the thread of the main context")
  func cancellation() async throws {
    #expect(try await lines("cancellation").output == ["at once: false", "later: true"])
  }

  @Test("GLibKit runs no second job while a job iterates the main context")
  func nesting() async throws {
    #expect(try await lines("nesting").output == ["inside: false", "after: true"])
  }

  @Test("GLibKit runs jobs in the order in which they were added")
  func order() async throws {
    #expect(try await lines("order").output == ["in order: true"])
  }

  @Test("GLibKit drops GLib's warnings when configured to")
  func log() async throws {
    let errors = try await lines("log").errors
    #expect(errors.contains("before"))
    #expect(!errors.contains("after"))
  }
}
