import Foundation
import Glibc
import ProgramDriver
import SDBus
import Synchronization

/// The window as a process, on a display and a bus of its own, worked as a screen reader does.
struct WindowOnDisplay {
  /// What a person does in the window, or sees there. Each waits until it can be done, and no longer than 20 seconds.
  enum Step {
    /// Something has this name or text.
    case see(String)
    /// Nothing has it.
    case gone(String)
    /// A button that has this name cannot be used now.
    case unusable(String)
    /// A button, by its action.
    case press(String)
    /// A label, by the pointer.
    case click(String)
    /// The return key, for what has the focus.
    case enter
    /// Into the entry of this name, in place of what it contains.
    case type(String, into: String)

    fileprivate var words: [String] {
      switch self {
      case .see(let name): ["see", name]
      case .gone(let name): ["gone", name]
      case .unusable(let name): ["unusable", name]
      case .press(let name): ["press", name]
      case .click(let name): ["click", name]
      case .enter: ["key", "65293"]
      case .type(let text, let name): ["type", name, text]
      }
    }
  }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../.."

  private let environment: [String: String]
  let bus: PrivateBus
  /// Nil for one that the message bus starts.
  private let program: RunningProgram?

  /// Runs the body with a message bus that starts `whorl-gtk` for a store, by the service file that is installed.
  static func onBus<Value>(_ store: TestStore, _ body: (WindowOnDisplay) async throws -> Value) async throws -> Value {
    let file = String(decoding: try readFile("\(root)/data/window/org.whorl.Whorl.service"), as: UTF8.self)
    let program = try Programs.path("whorl-gtk")
    let words = ["", "--store", store.directory] + store.reader
    // The last line is the command.
    let service =
      String(file.dropLast()).replacing("@PREFIX@/bin/whorl-gtk", with: program)
      + words.joined(separator: " ") + "\n"
    return try await onDisplay(in: store.folder, service: service) { environment, bus in
      try await body(WindowOnDisplay(environment: environment, bus: bus, program: nil))
    }
  }

  /// Runs `whorl-gtk` with these arguments while `body` runs. GTK's warnings fail the test: they are defects of the
  /// interface.
  ///
  /// - Parameters:
  ///   - width: of the display in pixels. The window is no wider, unless its contents are.
  ///   - more: of the environment.
  ///   - prefix: a program that runs the window, with its words.
  static func with<Value>(
    _ arguments: [String], in folder: String, width: Int = 1_200, more: [String: String] = [:],
    through prefix: [String] = [],
    _ body: (WindowOnDisplay) async throws -> Value
  ) async throws -> Value {
    try await onDisplay(in: folder, width: width, more: more) { environment, bus in
      let words = prefix + [try Programs.path("whorl-gtk")] + arguments
      let program = try Invocation(
        program: words[0], arguments: Array(words.dropFirst()), environment: environment
      ).start()
      async let end = finish(program)
      let result: Result<Value, any Error>
      do {
        result = .success(try await body(WindowOnDisplay(environment: environment, bus: bus, program: program)))
      } catch { result = .failure(error) }
      if program.isRunning { program.signal(SIGTERM) }
      let said = await end
      let warnings = said.diagnostics.split(separator: "\n").filter {
        $0.contains("CRITICAL") || $0.contains("WARNING") && !$0.contains("theme")
      }
      guard warnings.isEmpty else { throw WindowFailure(description: warnings.joined(separator: "\n")) }
      guard [0, 128 + SIGTERM].contains(said.status) else {
        throw WindowFailure(description: "the window ended with status \(said.status): \(said.diagnostics)")
      }
      return try result.get()
    }
  }

  /// - Parameter service: the file of a service that the bus starts.
  private static func onDisplay<Value>(
    in folder: String, width: Int = 1_200, more: [String: String] = [:], service: String? = nil,
    _ body: ([String: String], PrivateBus) async throws -> Value
  ) async throws -> Value {
    let (services, runtime) = ("\(folder)/services", "\(folder)/run")
    for each in [services, runtime] where access(each, F_OK) != 0 {
      guard mkdirPrivate(each) else { throw SystemFailure(each) }
    }
    try writeFile(
      "\(services)/a11y.service",
      Array("[D-BUS Service]\nName=org.a11y.Bus\nExec=/usr/libexec/at-spi-bus-launcher\n".utf8))
    if let service { try writeFile("\(services)/window.service", Array(service.utf8)) }
    let display = try await Display(width: width)
    defer { display.end() }
    var environment = [
      "DISPLAY": display.name, "XDG_RUNTIME_DIR": runtime, "HOME": folder, "LC_ALL": "C.UTF-8",
      "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "atspi",
    ].merging(more) { $1 }
    return try await PrivateBus.with(services: [services], environment: environment) { bus in
      environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
      return try await body(environment, bus)
    }
  }

  /// Calls a method of the window's program, which the bus starts if it does not run yet.
  func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
  ) async throws -> [BusValue] {
    let connection = try BusConnection(busAddress: bus.address, handlers: .init())
    defer { connection.close() }
    let target = BusTarget(destination: "org.whorl.Whorl", path: path, interface: interface)
    return try await connection.call(target, member, arguments, within: .seconds(20))
  }

  /// The lines of a file by which a desktop finds the search.
  static func search(_ kind: String) throws -> [String: String] {
    let file = String(decoding: try readFile("\(root)/data/window/org.whorl.Whorl.\(kind)"), as: UTF8.self)
    return file.split(separator: "\n").reduce(into: [:]) { lines, line in
      let parts = line.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { lines[String(parts[0])] = String(parts[1]) }
    }
  }

  /// Starts the program once more, and returns its exit status.
  func startAgain(_ arguments: String...) async throws -> Int32 {
    try await Invocation(
      program: "/usr/bin/timeout", arguments: ["20", try Programs.path("whorl-gtk")] + arguments,
      environment: environment
    ).run().status
  }

  /// Does these steps, one after the other.
  func callAsFunction(_ steps: Step...) async throws { _ = try await read(steps.map(\.words)) }

  /// All names and texts of the window, also of pages that are not on top.
  func texts() async throws -> [String] { try await read([["texts"]]).last ?? [] }

  /// The roles of controls that a screen reader cannot name.
  func unnamed() async throws -> [String] { try await read([["unnamed"]]).last ?? [] }

  /// The controls that can be used, and do not get the focus by Tab.
  func unreached() async throws -> [String] { try await read([["unreached"]]).last ?? [] }

  /// What reaches over the sides of its window.
  func outside() async throws -> [String] { try await read([["outside"]]).last ?? [] }

  /// The width of the widest window.
  func width() async throws -> Int? { try await read([["wide"]]).last?.first.flatMap(Int.init) }

  /// Waits until the window has ended by itself.
  func hasEnded() async throws {
    for _ in 0..<2_000 where isRunning { try await Task.sleep(for: .milliseconds(10)) }
    guard !isRunning else { throw WindowFailure(description: "the window has not ended") }
  }

  /// What a program that pastes gets.
  func pasted() async throws -> String {
    try await Invocation(
      program: "/usr/bin/timeout", arguments: ["10", "/usr/bin/xclip", "-selection", "clipboard", "-out"],
      environment: environment
    ).run().text
  }

  /// Copies a text as another program, which keeps it in the clipboard until the display ends.
  func copyElsewhere(_ text: String) async throws {
    try await Invocation(
      program: "/bin/sh", arguments: ["-c", "xclip -selection clipboard -in >/dev/null 2>&1"], input: Array(text.utf8),
      environment: environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }
    ).run().mustSucceed()
  }

  var isRunning: Bool { program?.isRunning ?? true }

  /// How often the window's main thread has waited so far.
  func waits() throws -> Int { try waitsOfThreads()[pid.description] ?? 0 }

  /// How often each thread of the window has waited so far, by its number.
  func waitsOfThreads() throws -> [String: Int] {
    try threads.reduce(into: [:]) { waits, thread in
      // A thread may have ended meanwhile.
      guard let status = try? readFile("/proc/\(pid)/task/\(thread)/status") else { return }
      let text = String(decoding: status, as: UTF8.self)
      waits[thread] = text.firstMatch(of: /\nvoluntary_ctxt_switches:\s+(\d+)/).flatMap { Int($0.1) }
    }
  }

  /// Sends a signal to the programs that the window has started, such as its vault.
  func signalChildren(_ signal: Int32) throws {
    for thread in try threads {
      let children = String(decoding: try readFile("/proc/\(pid)/task/\(thread)/children"), as: UTF8.self)
      for child in children.split(separator: " ").compactMap({ Int32($0) }) { kill(child, signal) }
    }
  }

  private var pid: pid_t {
    get throws {
      guard let pid = program?.pid else { throw WindowFailure(description: "the message bus has started the window") }
      return pid
    }
  }

  private var threads: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task") }
  }

  /// What a program that reads windows is told of changes of texts while the body runs.
  func told(during body: () async throws -> Void) async throws -> [String] {
    let listener = try Invocation(
      program: "/usr/bin/timeout",
      arguments: ["60", "/usr/bin/python3", Self.root + "/Tests/Support/text-listener.py"],
      environment: environment
    ).start()
    async let end = finish(listener)
    // Until it listens.
    try await Task.sleep(for: .seconds(2))
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    // Until it was told.
    try await Task.sleep(for: .seconds(1))
    listener.signal(SIGTERM)
    let said = await end
    try result.get()
    return said.text.split(separator: "\n").map(String.init)
  }

  /// Runs the screen reader for these steps. A process for each call, which ends by itself, so that none is left behind.
  private func read(_ steps: [[String]]) async throws -> [[String]] {
    let lines = try steps.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) + "\n" }
    let script = Self.root + "/Tests/Support/screen-reader.py"
    // Debian's python3, for which the modules are installed.
    let reading = try await Invocation(
      program: "/usr/bin/timeout", arguments: ["120", "/usr/bin/python3", script], input: Array(lines.joined().utf8),
      environment: environment
    ).run()
    guard reading.status == 0 else {
      throw WindowFailure(description: isRunning ? reading.failure : "the window has ended")
    }
    return try reading.text.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String]
    }
  }
}

struct WindowFailure: Error, CustomStringConvertible {
  let description: String
}

/// An X server without a screen. It ends after five minutes, also if the test runner was killed, and with it its window.
private struct Display {
  let name: String
  private let server: RunningProgram

  init(width: Int) async throws {
    // The server chooses a free number and writes it to standard error.
    let server = try Invocation(
      program: "/usr/bin/timeout",
      arguments: ["300", "/usr/bin/Xvfb", "-displayfd", "2", "-screen", "0", "\(width)x900x24", "-nolisten", "tcp"]
    ).start()
    self.server = server
    let number: Int? = await withCheckedContinuation { continuation in
      let waiting = Mutex<CheckedContinuation<Int?, Never>?>(continuation)
      startThread {
        _ = server.finish { line, _ in
          guard let number = Int(line) else { return }
          waiting.withLock { $0.take() }?.resume(returning: number)
        }
        waiting.withLock { $0.take() }?.resume(returning: nil)
      }
    }
    guard let number else { throw WindowFailure(description: "Xvfb did not start") }
    name = ":\(number)"
  }

  func end() { if server.isRunning { server.signal(SIGTERM) } }
}

private func finish(_ program: RunningProgram) async -> Invocation.Result {
  await withCheckedContinuation { continuation in
    startThread { continuation.resume(returning: program.finish { _, _ in }) }
  }
}
