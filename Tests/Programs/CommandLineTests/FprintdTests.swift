import Glibc
import Primitives
import ProgramDriver
import Testing
import VirtualFinger

@Suite("With the fingers that fprintd has", .serialized)
struct FprintdTests {
  private static let right = SyntheticFinger(person: 1, finger: .rightIndex)
  private static let other = SyntheticFinger(person: 2, finger: .rightIndex)

  @Test("fingers of a configured fprintd open nothing before the passcode accepts them")
  func replaced() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.right)
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd)
        try await store.whorl("set", "presence", input: "presence").mustSucceed()
        let planted = try await store.touched("get", "presence", by: Self.right)
        #expect(planted.status == 77 && planted.output.isEmpty, "\(planted.diagnostics)")
        #expect(planted.failure.contains("'whorl reader use fprintd' accepts them"), "\(planted.failure)")

        try await store.accept()
        for access in ["current-set", "any-finger"] {
          try await store.whorl("set", access, "--access", access, input: access).mustSucceed()
        }
        let read = try await store.touched("get", "current-set", "any-finger", "presence", by: Self.right)
        #expect(read.text == "current-set\nany-finger\npresence", "\(read.diagnostics)")
        let wrong = try await store.touched("get", "current-set", by: Self.other, times: 3)
        #expect(wrong.status == 77 && wrong.output.isEmpty)

        try await fprintd.enroll("right-index-finger", pressing: Self.other)
        for finger in [Self.other, Self.right] {
          let changed = try await store.touched("get", "current-set", by: finger)
          #expect(changed.status == 77 && changed.output.isEmpty)
          #expect(changed.failure.contains("have not been accepted"), "\(changed.failure)")
        }
        let accepted = try await store.accept()
        #expect(accepted.diagnostics.contains("changed in fprintd"), "\(accepted.diagnostics)")
        #expect(accepted.diagnostics.contains("Destroyed with the old set of fingers: current-set"))
        for finger in [Self.other, Self.right] {
          let dead = try await store.touched("get", "current-set", by: finger)
          #expect(dead.status == 77 && dead.output.isEmpty)
          #expect(dead.failure.contains("current-set is dead"), "\(dead.diagnostics)")
        }
        // Any finger that is enrolled in fprintd now.
        #expect(try await store.touched("get", "any-finger", by: Self.other).text == "any-finger")
      }
    }
  }

  @Test("no item is bound to the set of fingers if fprintd's files cannot be read, and the reason is shown")
  func unreadable() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.right)
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd, templates: "\(plain.folder)/none")
        try await store.accept()
        let bound = try await store.whorl("set", "bound", "--access", "current-set", input: "s")
        #expect(bound.status == 77)
        #expect(bound.failure.contains("template files cannot be read"), "\(bound.failure)")
        try await store.whorl("set", "any", "--access", "any-finger", input: "s").mustSucceed()
        #expect(try await store.touched("get", "any", by: Self.right).text == "s")
      }
    }
  }

  @Test("the README's first example works for a user who cannot read fprintd's files")
  func firstExample() async throws {
    let commands = try Readme.firstExample()
    #expect(commands.map { $0[1] } == ["setup", "set", "get", "doctor"])
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.right)
      // A store as `setup` makes it.
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd, templates: "\(plain.folder)/none")
        try await store.accept()
        for command in commands where ["set", "get"].contains(command[1]) {
          let result = try await store.touched(
            Array(command.dropFirst()), by: Self.right, input: command[1] == "set" ? "secret" : nil)
          #expect(result.status == 0, "\(command): \(result.diagnostics)")
          if command[1] == "get" { #expect(result.text == "secret") }
        }
      }
    }
  }

  @Test("whorl enrols through fprintd in its stages, and deletes the finger in fprintd")
  func enrolling() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd)
        let enrolled = try await store.touched(
          "enroll", "right-index", "--yes", by: Self.right, times: 7, passcode: true)
        #expect(enrolled.status == 0, "\(enrolled.diagnostics)")
        for stage in 1...6 { #expect(enrolled.diagnostics.contains("Stage \(stage) of 6")) }
        #expect(try await fprintd.tool("fprintd-list", fprintd.userName()).diagnostics.contains("right-index-finger"))
        try await store.whorl("set", "bound", "--access", "current-set", input: "s").mustSucceed()
        #expect(try await store.touched("get", "bound", by: Self.right).text == "s")
        let again = try await store.touched("enroll", "right-index", "--yes", by: Self.right, passcode: true)
        #expect(again.status == 73, "\(again.diagnostics)")

        try fprintd.allow("verify")
        let refused = try await store.touched("unenroll", "right-index", "--yes", by: Self.right, passcode: true)
        #expect(refused.status == 69, "\(refused.diagnostics)")
        #expect(refused.failure.contains("sudo fprintd-enroll"))
        try fprintd.allow("verify", "enroll")
        let forgotten = try await store.touched("unenroll", "right-index", "--yes", by: Self.right, passcode: true)
        #expect(forgotten.status == 0, "\(forgotten.diagnostics)")
        #expect(try await !fprintd.tool("fprintd-list", fprintd.userName()).diagnostics.contains("right-index-finger"))
        #expect(try await store.touched("get", "bound", by: Self.right).failure.contains("is dead"))
      }
    }
  }

  @Test("a second finger is enrolled through fprintd like the first, and both open bound items")
  func second() async throws {
    let thumb = SyntheticFinger(person: 1, finger: .leftThumb)
    try await PrivateFprintd.with(.image) { fprintd in
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd)
        for (name, finger) in [("right-index", Self.right), ("left-thumb", thumb)] {
          let enrolled = try await store.touched("enroll", name, "--yes", by: finger, times: 7, passcode: true)
          #expect(enrolled.status == 0, "\(enrolled.diagnostics)")
        }
        try await store.whorl("set", "bound", "--access", "current-set", input: "s").mustSucceed()
        for finger in [Self.right, thumb] {
          #expect(try await store.touched("get", "bound", by: finger).text == "s")
        }
      }
    }
  }

  @Test("an unreachable fprintd is reported as such, with advice")
  func unreachable() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      fprintd.killDaemon()
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd)
        let listed = try await store.whorl("reader", "list")
        #expect(listed.status == 69)
        #expect(listed.failure.contains("(fprintd) cannot be reached: start it with"), "\(listed.failure)")
        #expect(listed.failure.contains("sudo systemctl restart fprintd"))
      }
    }
  }

  @Test(
    "if fprintd is unreachable, a secret for fingers is refused with that reason, not for missing fingers",
    arguments: ["fprintd", "auto"], ["current-set", "any-finger"])
  func unreachableForSet(_ reader: String, _ access: String) async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      fprintd.killDaemon()
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd, reader: reader)
        let refused = try await store.whorl("set", "a", "--access", access, input: "s")
        #expect(refused.status == 69)
        #expect(refused.failure.contains("(fprintd) cannot be reached: start it with"), "\(refused.failure)")
      }
    }
  }

  @Test("the reader option auto takes fprintd's reader, says so, and keeps to the kind that has the fingers")
  func automatic() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.right)
      try await TestStore.with { plain in
        let store = try FprintdStore(plain, fprintd, reader: "auto")
        let listed = try await store.whorl("reader", "list")
        #expect(listed.text.contains("through     fprintd"), "\(listed.text)")
        let status = try await store.whorl("status")
        #expect(status.text.contains("through fprintd: fprintd has it"), "\(status.text)")
        try await store.accept()
        try await store.whorl("set", "any", "--access", "any-finger", input: "s").mustSucceed()
        #expect(try await store.touched("get", "any", by: Self.right).text == "s")
        #expect(try await store.whorl("status").text.contains("this store has fprintd on record"))
      }
    }
    try await TestStore.enrolled { plain in
      try await PrivateFprintd.with(.image) { fprintd in
        try await fprintd.enroll("right-index-finger", pressing: Self.right)
        // Its fingers are on a reader of libfprint, so fprintd's must not be accepted.
        let store = try FprintdStore(plain, fprintd, reader: "auto")
        let refused = try await store.touched("get", "any-finger", by: Self.right)
        #expect(refused.status == 69, "\(refused.diagnostics)")
        #expect(try await store.whorl("status").text.contains("none of these: this store has libfprint on record"))
        let checked = try await store.whorl("doctor")
        #expect(checked.status == 69 && checked.text.contains("fail  reader: none of these is used"), "\(checked.text)")
        let named = try await store.touched("get", "any-finger", "--reader", "fprintd", by: Self.right)
        #expect(named.status == 77 && named.output.isEmpty, "\(named.diagnostics)")

        let unproved = try await store.whorl("reader", "use", "fprintd")
        #expect(unproved.status == 77, "\(unproved.diagnostics)")
        #expect(try await store.touched("reader", "use", "fprintd", by: Self.right, passcode: true).status == 0)
        #expect(try await store.whorl("status").text.contains("through fprintd: this store has fprintd on record"))
        #expect(try await store.touched("get", "any-finger", by: Self.right).text == "any-finger")
        // Items bound to the other reader's fingers stay bound to them.
        let bound = try await store.touched("get", "current-set", by: Self.right)
        #expect(bound.status == 77 && bound.output.isEmpty, "\(bound.diagnostics)")
        #expect(try await plain.touched(["get", "current-set"], [.right]).text == "current-set")

        #expect(try await store.touched("reader", "use", "libfprint", by: Self.right, passcode: true).status == 0)
        #expect(try await store.touched("get", "any-finger", by: Self.right).status == 69)
      }
    }
  }

  @Test("a reader through fprintd and one through libfprint work side by side, each with its own fingers")
  func sideBySide() async throws {
    try await TestStore.enrolled { direct in
      try await PrivateFprintd.with(.image) { fprintd in
        let store = try FprintdStore(direct, fprintd)
        let enrolled = try await store.touched(
          "enroll", "right-index", "--yes", by: Self.other, times: 7, passcode: true)
        #expect(enrolled.status == 0, "\(enrolled.diagnostics)")
        try await store.whorl("set", "through-fprintd", "--access", "current-set", input: "s").mustSucceed()
        #expect(try await store.touched("get", "through-fprintd", by: Self.other).text == "s")
        #expect(try await direct.touched(["get", "current-set"], [.right]).text == "current-set")
        for wrong in [
          try await store.touched("get", "current-set", by: Self.other),
          try await direct.touched(["get", "through-fprintd"], [.right]),
        ] {
          #expect(wrong.status == 77 && wrong.output.isEmpty)
          #expect(wrong.failure.contains("bound to a different reader"), "\(wrong.diagnostics)")
        }
        let fingers = try await store.whorl("fingers").text
        #expect(fingers.contains("by fprintd") && fingers.contains("in the store"))
      }
    }
  }
}

/// A store whose configuration names a private fprintd.
struct FprintdStore {
  let store: TestStore
  let fprintd: PrivateFprintd
  private let configuration: String

  init(_ store: TestStore, _ fprintd: PrivateFprintd, templates: String? = nil, reader: String = "fprintd") throws {
    self.store = store
    self.fprintd = fprintd
    configuration = "\(store.folder)/config.json"
    let text = """
      {"reader": "\(reader)", "fprintd": {"bus": "\(fprintd.bus)", "templates": "\(templates ?? fprintd.templates)"}}
      """
    try writeFile(configuration, Array(text.utf8))
  }

  func whorl(_ words: String..., input: String? = nil) async throws -> Invocation.Result {
    try await Invocation(
      arguments: store.arguments(words + ["--config", configuration]), input: input.map { Array($0.utf8) }
    ).run()
  }

  /// Accepts the fingers that fprintd has now, with the passcode.
  @discardableResult
  func accept() async throws -> Invocation.Result {
    let result = try await Invocation(
      arguments: store.arguments(["reader", "use", "fprintd", "--config", configuration, "--passcode-fd", "3"]),
      descriptors: ["\(TestStore.passcode)\n"]
    ).run()
    try result.mustSucceed()
    return result
  }

  func touched(_ words: String..., by finger: SyntheticFinger, times: Int = 1, passcode: Bool = false) async throws
    -> Invocation.Result
  {
    try await touched(words, by: finger, times: times, passcode: passcode)
  }

  func touched(
    _ words: [String], by finger: SyntheticFinger, times: Int = 1, passcode: Bool = false, input: String? = nil
  ) async throws -> Invocation.Result {
    try await Invocation(
      arguments: store.arguments(words + ["--config", configuration] + (passcode ? ["--passcode-fd", "3"] : [])),
      input: input.map { Array($0.utf8) }, descriptors: passcode ? ["\(TestStore.passcode)\n"] : []
    ).run(heard: Touches(socket: fprintd.socket, Array(repeating: .press(finger), count: times)).heard)
  }
}

/// The commands of the README's only example.
enum Readme {
  static func firstExample() throws -> [[String]] {
    let source = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let text = String(decoding: try readFile("/\(source)/README.md"), as: UTF8.self)
    return text.split(separator: "\n").filter { $0.hasPrefix("    whorl ") }.map { line in
      // A description follows the command after two spaces.
      let command = line.dropFirst(4).split(separator: "  ", maxSplits: 1)[0]
      return command.split(separator: " ").map(String.init)
    }
  }
}
