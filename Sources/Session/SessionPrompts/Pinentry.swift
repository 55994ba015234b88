package import Primitives
internal import Processes

/// The system's program for asking for a passcode (`pinentry`), over the Assuan protocol.
package final class Pinentry: Sendable {
  package enum Answer: Sendable {
    case secret(SharedSecret)
    case cancelled
    /// The person did not answer within pinentry's own limit.
    case unanswered
    /// The program cannot ask.
    case unavailable
  }

  package struct Question {
    /// The program and its request, as a sentence.
    var heading: String
    /// What the person should do, as a sentence.
    var request: String
    /// Details of the program that asks; nil if this program asks for itself.
    var details: String?
    /// What was wrong with the previous answer.
    package var problem: String?
    /// What is typed into the field.
    var field: String

    package init(
      heading: String, request: String, details: String? = nil, problem: String? = nil, field: String = "Passcode"
    ) {
      (self.heading, self.request, self.details) = (heading, request, details)
      (self.problem, self.field) = (problem, field)
    }
  }

  /// The environment variables that it needs.
  private static let passed = [
    "HOME", "PATH", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
  ]
  /// The error codes of gpg-error (GPG_ERR_CANCELED and GPG_ERR_TIMEOUT, with pinentry as their source).
  private static let (cancelled, timeout) = ("83886179", "83886142")

  private let process: PinentryProcess
  /// The terminal on which it asks without a desktop.
  private let terminal: ClientTerminal?

  /// Starts it. Nil if it is not installed.
  ///
  /// - Parameter terminal: the client's.
  package init?(environment: [String], _ terminal: ClientTerminal? = nil) {
    self.terminal = DisplayVariables.nameADisplay(in: environment) ? nil : terminal
    func value(_ name: String) -> String? {
      environment.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    let folders = (value("PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").filter { $0.hasPrefix("/") }
    let program = folders.lazy.compactMap { try? HelperProgram(at: "\($0)/pinentry") }.first
    guard let program else { return nil }
    let passed = Self.passed.compactMap { name in value(name).map { "\(name)=\($0)" } }
    guard let process = PinentryProcess(program, environment: passed) else { return nil }
    self.process = process
  }

  /// Ends the running question. ``ask(_:)`` then returns `unavailable`.
  func stop() { process.stop() }

  /// Asks, and ends the program. Blocks.
  package func ask(_ question: Question) async -> Answer {
    let answer = conversation(question)
    await process.end()
    return answer
  }

  private func conversation(_ question: Question) -> Answer {
    guard case .ok = response() else { return .unavailable }
    // GNOME's pinentry shows the prompt as its heading, above the description. Others show it beside the field.
    let isHeading = flavor() == "gnome3"
    let description =
      (isHeading ? "" : "\(question.heading) ") + question.request + (question.details.map { "\n\n\($0)" } ?? "")
    var commands = [
      "SETTITLE Whorl", "SETDESC \(AssuanText.escaped(description))",
      "SETPROMPT \(AssuanText.escaped(isHeading ? question.heading : "\(question.field):"))",
    ]
    if let problem = question.problem { commands.append("SETERROR \(AssuanText.escaped(problem))") }
    if let terminal {
      let type = terminal.path.hasPrefix("/dev/pts/") ? "xterm" : "linux"
      commands += ["OPTION ttyname=\(terminal.path)", "OPTION ttytype=\(type)"]
    }
    for command in commands {
      guard process.send(command), case .ok = response() else { return .unavailable }
    }
    guard process.send("GETPIN") else { return .unavailable }
    switch response() {
    case .ok(let secret?): return .secret(secret)
    // The person pressed Return without typing anything.
    case .ok(nil): return .cancelled
    case .failed(Self.cancelled): return .cancelled
    case .failed(Self.timeout): return .unanswered
    case .failed: return .unavailable
    case .ended: return .unavailable
    }
  }

  /// The variant of pinentry; nil if it does not report one.
  private func flavor() -> String? {
    guard process.send("GETINFO flavor"), case .ok(let name?) = response() else { return nil }
    return name.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  private enum Response {
    /// With the data that the response contained.
    case ok(SharedSecret?)
    case failed(code: String)
    case ended
  }

  /// Reads the lines of a response up to its end. They may contain the passcode.
  private func response() -> Response {
    var data: SharedSecret?
    while let line = process.line() {
      if line.begins(with: "D ") {
        data = SharedSecret(AssuanText.unescaped(line.bytes, from: 2))
      } else if line.begins(with: "OK") {
        return .ok(data)
      } else if line.begins(with: "ERR ") {
        let words = line.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.split(separator: " ")
        return .failed(code: words.count > 1 ? String(words[1]) : "")
      }
    }
    return .ended
  }
}
