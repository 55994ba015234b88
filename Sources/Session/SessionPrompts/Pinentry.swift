internal import Glibc
internal import Processes
package import SecureMemory

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
  private static let lineLimit = 4_096

  private let socket: Int32
  private let child: ChildProcess
  /// It would stay on the screen after a signal has ended this program, since it does not read from it while it asks.
  private let entry: Unfinished.Entry
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
    var ends: [Int32] = [-1, -1]
    // The child gets a copy of the second end.
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
    defer { close(ends[1]) }
    do throws(ChildStartError) {
      (child, entry) = try Unfinished.ofThisProgram.start { () throws(ChildStartError) in
        try ChildProcess(
          program, arguments: [program.path],
          environment: Self.passed.compactMap { name in value(name).map { "\(name)=\($0)" } },
          // The program may be a script, which its interpreter opens through the descriptor's path.
          descriptors: [program.descriptor], standardInput: ends[1], standardOutput: ends[1])
      }
    } catch {
      close(ends[0])
      return nil
    }
    socket = ends[0]
  }

  deinit {
    close(socket)
    Unfinished.ofThisProgram.forget(entry)
  }

  /// Ends the running question. ``ask(_:)`` then returns `unavailable`.
  func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

  /// Asks, and ends the program. Blocks.
  package func ask(_ question: Question) async -> Answer {
    let answer = conversation(question)
    stop()
    _ = await child.end(grace: .milliseconds(500)).value
    Unfinished.ofThisProgram.forget(entry)
    return answer
  }

  private func conversation(_ question: Question) -> Answer {
    guard case .ok = response() else { return .unavailable }
    // GNOME's pinentry shows the prompt as its heading, above the description. Others show it beside the field.
    let isHeading = flavor() == "gnome3"
    let description =
      (isHeading ? "" : "\(question.heading) ") + question.request + (question.details.map { "\n\n\($0)" } ?? "")
    var commands = [
      "SETTITLE Whorl", "SETDESC \(Self.escaped(description))",
      "SETPROMPT \(Self.escaped(isHeading ? question.heading : "\(question.field):"))",
    ]
    if let problem = question.problem { commands.append("SETERROR \(Self.escaped(problem))") }
    if let terminal {
      let type = terminal.path.hasPrefix("/dev/pts/") ? "xterm" : "linux"
      commands += ["OPTION ttyname=\(terminal.path)", "OPTION ttytype=\(type)"]
    }
    for command in commands {
      guard send(command), case .ok = response() else { return .unavailable }
    }
    guard send("GETPIN") else { return .unavailable }
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
    guard send("GETINFO flavor"), case .ok(let name?) = response() else { return nil }
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
    while let line = try? SharedSecret(SecretBytes.readLine(from: socket, limit: Self.lineLimit)) {
      if line.begins(with: "D ") {
        data = SharedSecret(Self.unescaped(line.bytes, from: 2))
      } else if line.begins(with: "OK") {
        return .ok(data)
      } else if line.begins(with: "ERR ") {
        let words = line.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.split(separator: " ")
        return .failed(code: words.count > 1 ? String(words[1]) : "")
      }
    }
    return .ended
  }

  private func send(_ command: String) -> Bool {
    let line = Array("\(command)\n".utf8)
    // Borrows the bytes for the call.
    return Glibc.send(socket, line, line.count, Int32(MSG_NOSIGNAL)) == line.count
  }

  /// Encodes text as an argument: `%`, line breaks and other characters that end the line become `%NN`.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar == "%" || scalar.value < 0x20 {
        escaped += "%" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16, uppercase: true)
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Decodes data in which `%NN` stands for a byte.
  private static func unescaped(_ line: borrowing SecretBytes, from start: Int) -> SecretBytes {
    var data = SecretBytes(count: line.count)
    var count = 0
    line.withUnsafeBytes { line in
      data.withUnsafeMutableBytes { data in
        var next = start
        while next < line.count {
          var byte = line[next]
          next += 1
          if byte == UInt8(ascii: "%"), next + 2 <= line.count, let high = digit(line[next]),
            let low = digit(line[next + 1])
          {
            byte = high << 4 | low
            next += 2
          }
          data[count] = byte
          count += 1
        }
      }
    }
    data.resize(to: count)
    return data
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension SharedSecret {
  fileprivate func begins(with prefix: String) -> Bool {
    bytes.withUnsafeBytes { $0.starts(with: prefix.utf8) }
  }
}
