import ProgramDriver
import Testing

@Suite("The examples")
struct ExampleTests {
  /// `make examples` runs the same script over the same sources, built as a package of their own.
  @Test(
    "an example program does what it says, with a store, a reader and fingers of its own",
    arguments: [
      "bound-secret", "biometry-states", "sign-in", "feature-gate", "internet-password", "password-helper", "rights",
    ])
  func story(name: String) async throws {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    func folder(of program: String) throws -> String {
      "/\(try Programs.path(program).split(separator: "/").dropLast().joined(separator: "/"))"
    }
    let run = try await Invocation(
      program: "/\(root)/scripts/examples", arguments: [try folder(of: "whorl"), try folder(of: name), name]
    ).run()
    #expect(run.status == 0, "\(run.text)\(run.diagnostics)")
    #expect(run.text.hasSuffix("examples: all of them did what they say\n"))
  }
}
