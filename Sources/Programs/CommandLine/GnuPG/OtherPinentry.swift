import CommandBase
import Glibc
internal import Moving
import Primitives
import Processes
internal import Prompts
import SessionPrompts
import Settings

/// The pinentry that would run without Whorl. It asks for what the vault does not give.
final class OtherPinentry {
  enum Answer {
    /// With what was typed.
    case ok(SharedSecret?)
    /// The whole line of the error.
    case failed(String)
    /// It cannot be run, or has ended.
    case unavailable
  }

  private static let advice = "'whorl gpg status' shows where the program is named"

  private let arguments: [String]
  private var running: PinentryProcess?

  /// - Parameter arguments: those that GnuPG's agent has given.
  init(arguments: [String]) { self.arguments = arguments }

  /// Has it do a command of the agent, after these settings. What it asks the agent meanwhile is passed on.
  func perform(_ command: String, after settings: [String]) -> Answer {
    guard let process = started() else { return .unavailable }
    // It may not know each of the agent's settings.
    for line in settings {
      guard process.send(line) else { return .unavailable }
      if case .unavailable = response(of: process) { return .unavailable }
    }
    guard process.send(command) else { return .unavailable }
    return response(of: process)
  }

  /// Asks the person whether Whorl keeps what was typed.
  func offersToKeep(after settings: [String]) async -> Bool {
    let question =
      "Shall Whorl keep this passphrase? The next time a touch of the fingerprint reader gives it to GnuPG, and you "
      + "need not type it."
    let texts = ["SETTITLE Whorl", "SETDESC \(AssuanText.escaped(question))", "SETOK Keep it", "SETCANCEL No"]
    let options = settings.filter { $0.hasPrefix("OPTION ") }
    let answer = perform("CONFIRM", after: options + texts)
    // The next question gets one without these texts.
    await end()
    if case .ok = answer { return true }
    return false
  }

  func end() async {
    await running?.end()
    running = nil
  }

  private func started() -> PinentryProcess? {
    if let running { return running }
    do throws(Failure) {
      // The program that GnuPG's agent would run has no other place than its configuration.
      let path = try GnuPGAgentFile().otherProgram
      guard
        let process = PinentryProcess(
          try Self.program(path), arguments: arguments, environment: UserEnvironment.entries),
        case .ok = response(of: process)
      else { throw Failure(.unavailable, "\(path) cannot be run", advice: Self.advice) }
      running = process
      return process
    } catch {
      StandardError.line(Visible.text("whorl: pinentry: \(error.what): \(error.advice ?? "")"))
      return nil
    }
  }

  private static func program(_ path: String) throws(Failure) -> HelperProgram {
    do throws(HelperProgramError) { return try HelperProgram(at: path) } catch {
      throw Failure(.unavailable, error.words, advice: advice)
    }
  }

  private func response(of process: PinentryProcess) -> Answer {
    var data = SecretBytes(count: 0)
    while let line = process.line() {
      if line.begins(with: "D ") {
        data.append(AssuanText.unescaped(line.bytes, from: 2))
      } else if line.begins(with: "OK") {
        return .ok(data.isEmpty ? nil : SharedSecret(data))
      } else if line.begins(with: "ERR ") {
        return .failed(line.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
      } else if line.begins(with: "S ") || line.begins(with: "INQUIRE ") {
        guard Self.pass(line), !line.begins(with: "INQUIRE ") || answerInquiry(process) else { break }
      }
    }
    running = nil
    return .unavailable
  }

  /// Passes on what the agent says to a question of the pinentry, such as how good a new passphrase is.
  private func answerInquiry(_ process: PinentryProcess) -> Bool {
    while let line = try? SharedSecret(SecretBytes.readLine(from: STDIN_FILENO, limit: AssuanText.lineLimit)) {
      guard process.send(line.bytes) else { return false }
      if line.begins(with: "END") || line.begins(with: "CAN") { return true }
    }
    return false
  }

  /// Passes a line on to the agent.
  private static func pass(_ line: SharedSecret) -> Bool {
    do {
      try SecretBytes(joining: [], line.bytes, Array("\n".utf8)).write(to: STDOUT_FILENO)
      return true
    } catch {
      return false
    }
  }
}
