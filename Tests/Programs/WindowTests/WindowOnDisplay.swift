import Foundation
import Glibc
import ProgramDriver
import Synchronization

/// The window as a process, on a display and a bus of its own, worked as a screen reader does.
final class WindowOnDisplay: Sendable {
  private let commands: Int32
  private let answers: Int32
  private let turn = Mutex(())
  private let buffer = Mutex<[UInt8]>([])
  let program: RunningProgram

  private init(_ commands: Int32, _ answers: Int32, _ program: RunningProgram) {
    (self.commands, self.answers, self.program) = (commands, answers, program)
  }

  /// Runs `whorl-gtk` with these arguments while `body` runs.
  static func with<Value>(_ arguments: [String], in folder: String, _ body: (WindowOnDisplay) async throws -> Value)
    async throws -> Value
  {
    let services = "\(folder)/services"
    mkdir(services, 0o700)
    try writeFile("\(services)/a11y.service", Array(Self.accessibility.utf8))
    let runtime = "\(folder)/run"
    mkdir(runtime, 0o700)
    let display = try Display()
    defer { display.end() }
    var environment = [
      "DISPLAY": display.name, "XDG_RUNTIME_DIR": runtime, "HOME": folder, "GDK_BACKEND": "x11",
      "GSK_RENDERER": "cairo",
      "LC_ALL": "C.UTF-8", "NO_AT_BRIDGE": "0",
    ]
    return try await PrivateBus.with(services: [services], environment: environment) { bus in
      environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
      let program = try Invocation(program: "whorl-gtk", arguments: arguments, environment: environment).start()
      let said = Mutex("")
      startThread {
        let result = program.finish { _, _ in }
        said.withLock { $0 = result.diagnostics }
      }
      let reader = try ScreenReader(environment)
      defer { reader.end() }
      let window = WindowOnDisplay(reader.commands, reader.answers, program)
      let result: Result<Value, any Error>
      do { result = .success(try await body(window)) } catch { result = .failure(error) }
      program.signal(SIGTERM)
      while program.isRunning { try await Task.sleep(for: .milliseconds(5)) }
      // GTK's warnings are defects of the interface.
      let warnings = said.withLock { $0 }.split(separator: "\n").filter {
        $0.contains("CRITICAL") || $0.contains("WARNING") && !$0.contains("theme")
      }
      guard warnings.isEmpty else { throw WindowFailure(warnings.joined(separator: "\n")) }
      return try result.get()
    }
  }

  /// Does one thing in the window, and waits for it; throws if it cannot be done within half a minute.
  func callAsFunction(_ command: String...) async throws {
    guard case .done = try await ask(command) else {
      throw WindowFailure("cannot \(command); there is \(try await texts().map { $0[1] })")
    }
  }

  /// All that the window has, also on pages that are not on top: roles and texts.
  func texts() async throws -> [[String]] {
    if case .texts(let texts) = try await ask(["texts"]) { texts } else { [] }
  }

  /// The roles of controls that a screen reader cannot name.
  func unnamed() async throws -> [String] {
    if case .names(let names) = try await ask(["unnamed"]) { names } else { ["none listed"] }
  }

  private enum Answer: Sendable {
    case done, failed, texts([[String]]), names([String])
  }

  /// Asks on a thread of its own, since the answer may take half a minute.
  private func ask(_ command: [String]) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      startThread { continuation.resume(with: Result { try self.exchange(command) }) }
    }
  }

  private func exchange(_ command: [String]) throws -> Answer {
    try turn.withLock { _ in
      var line = try JSONSerialization.data(withJSONObject: command)
      line.append(10)
      let sent = line.withUnsafeBytes { write(commands, $0.baseAddress, $0.count) }
      guard sent == line.count else { throw WindowFailure("the screen reader has ended") }
      switch try JSONSerialization.jsonObject(with: Data(readLine()), options: .fragmentsAllowed) {
      case let done as Bool: return done ? .done : .failed
      case let names as [String]: return .names(names)
      case let texts as [[String]]: return .texts(texts)
      case let other: throw WindowFailure("the screen reader says \(other)")
      }
    }
  }

  private func readLine() throws -> [UInt8] {
    try buffer.withLock { buffer in
      var chunk = [UInt8](repeating: 0, count: 65_536)
      while true {
        if let end = buffer.firstIndex(of: 10) {
          defer { buffer.removeSubrange(...end) }
          return Array(buffer[..<end])
        }
        let count = read(answers, &chunk, chunk.count)
        guard count > 0 else { throw WindowFailure("the screen reader has ended") }
        buffer += chunk[..<count]
      }
    }
  }

  private static let accessibility = """
    [D-BUS Service]
    Name=org.a11y.Bus
    Exec=/usr/libexec/at-spi-bus-launcher

    """
}

struct WindowFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// An X server without a screen.
private struct Display {
  let name: String
  private let process: Process

  init() throws {
    let output = Pipe()
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/Xvfb")
    // It chooses a free number and writes it to standard output.
    process.arguments = ["-displayfd", "1", "-screen", "0", "1200x900x24", "-nolisten", "tcp"]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let line = output.fileHandleForReading.availableData
    name = ":" + String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func end() {
    process.terminate()
    process.waitUntilExit()
  }
}

/// `Tests/Support/screen-reader.py`.
private struct ScreenReader {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ environment: [String: String]) throws {
    // Debian's python3, for which its modules are installed.
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [URL(filePath: #filePath).deletingLastPathComponent().path + "/../../Support/screen-reader.py"]
    process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  var commands: Int32 { input.fileHandleForWriting.fileDescriptor }
  var answers: Int32 { output.fileHandleForReading.fileDescriptor }

  func end() {
    process.terminate()
    process.waitUntilExit()
  }
}
