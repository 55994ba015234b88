import CommandBase
import Glibc
internal import Moving
import Primitives
import SessionPrompts
import Settings

/// The conversation with GnuPG's agent over standard input and output, in the Assuan protocol. It gives a passphrase
/// that the vault releases, and has the other pinentry do everything else.
struct PinentryConversation {
  /// The answers to a command, with the numbers of gpg-error and pinentry as their source.
  private enum Reply: String {
    case ok = "OK"
    case cancelled = "ERR 83886179 Operation cancelled <Whorl>"
    case noPinentry = "ERR 83886166 No pinentry <Whorl>"
    case unknownCommand = "ERR 83886355 Unknown IPC command <Whorl>"
    case unknownOption = "ERR 83886254 Unknown option <Whorl>"
    case badParameter = "ERR 83886360 IPC parameter error <Whorl>"
    case lineTooLong = "ERR 83886343 Line too long <Whorl>"
  }

  /// The texts that stay until they are set again, and those for one question alone.
  private static let texts: Set = [
    "SETDESC", "SETPROMPT", "SETTITLE", "SETOK", "SETCANCEL", "SETNOTOK", "SETTIMEOUT", "SETGENPIN", "SETGENPIN_TT",
    "SETQUALITYBAR", "SETQUALITYBAR_TT", "SETREPEATERROR", "SETREPEATOK",
  ]
  private static let once: Set = ["SETERROR", "SETREPEAT"]
  private static let others = [
    "BYE", "CLEARPASSPHRASE", "CONFIRM", "GETINFO", "GETPIN", "HELP", "MESSAGE", "NOP", "OPTION", "RESET",
    "SETKEYINFO",
  ]

  /// What the agent tries before it gives up. It does not say whether the last passphrase was right.
  private static let lastTry = 3

  private var kept: KeptPassphrases
  private let other: OtherPinentry
  /// The lines for the other pinentry, each with what it sets.
  private var settings: [(name: String, line: String)] = []
  private var key: GnuPGKey?
  /// What the agent says of the key, in the words of its own prompt.
  private var claim: String?
  private var round = Round()

  /// What has happened since the agent named its key.
  private struct Round {
    var tries = 0
    /// Whether the kept passphrase was given.
    var gaveKept = false
    /// Whether that one was wrong.
    var keptIsWrong = false
    /// Whether nothing is kept for the key, so that it may be offered.
    var isMissing = false
    /// What the person has said to the offer.
    var isWanted: Bool?
    /// To be kept if the agent has no complaint.
    var typed: SharedSecret?
  }

  init(_ session: Session, arguments: [String]) {
    kept = KeptPassphrases(session: session)
    other = OtherPinentry(arguments: arguments)
  }

  /// Answers until the agent ends the conversation.
  mutating func hold() async throws(Failure) {
    let result: Result<Bool, Failure>
    do throws(Failure) { result = .success(try await converse()) } catch { result = .failure(error) }
    await settle(isRight: (try? result.get()) == true)
    await other.end()
    _ = try result.get()
  }

  /// - Returns: whether the agent has taken its leave.
  private mutating func converse() async throws(Failure) -> Bool {
    try StandardOutput.line("OK Pleased to meet you")
    while true {
      let line: String
      do throws(ReadError) {
        let bytes = try SecretBytes.readLine(from: STDIN_FILENO, limit: AssuanText.lineLimit)
        line = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      } catch .tooLong {
        guard Self.skipLine() else { return false }
        try say(.lineTooLong)
        continue
      } catch {
        return false
      }
      if try await answer(line) { return true }
    }
  }

  /// Reads the rest of a line that is too long. Returns whether there is another line.
  private static func skipLine() -> Bool {
    while true {
      do throws(ReadError) {
        _ = try SecretBytes.readLine(from: STDIN_FILENO, limit: AssuanText.lineLimit)
        return true
      } catch .tooLong {
        continue
      } catch {
        return false
      }
    }
  }

  private func say(_ reply: Reply) throws(Failure) { try StandardOutput.line(reply.rawValue) }

  /// - Returns: whether the agent has taken its leave.
  private mutating func answer(_ line: String) async throws(Failure) -> Bool {
    let line = line.last == "\r" ? String(line.dropLast()) : line
    let word = line.prefix { $0 != " " }
    let argument = line.dropFirst(word.count).drop { $0 == " " }
    let name = word.uppercased()
    switch name {
    case "": break
    case _ where word.hasPrefix("#"): break
    case "BYE":
      // The agent does not wait for the answer.
      try? say(.ok)
      return true
    case "NOP": try say(.ok)
    case "RESET":
      await settle(isRight: false)
      (settings, key, claim) = ([], nil, nil)
      await other.end()
      try say(.ok)
    case "HELP":
      let names = (Self.others + Self.texts + Self.once).sorted()
      try StandardOutput.write(names.map { "# \($0)\n" }.joined())
      try say(.ok)
    case "OPTION": try setOption(argument, line)
    case "GETINFO": try tell(argument)
    case "SETKEYINFO":
      await settle(isRight: false)
      key = GnuPGKey(keyInfo: argument)
      try say(.ok)
    case "CLEARPASSPHRASE":
      if let cleared = GnuPGKey(keyInfo: argument) { await kept.forget(cleared) }
      try say(.ok)
    case _ where Self.texts.contains(name) || Self.once.contains(name):
      set(name, "\(name) \(argument)")
      if name == "SETDESC" { describe(argument) }
      try say(.ok)
    case "GETPIN": try await getPassphrase()
    case "CONFIRM", "MESSAGE": try pass(on: argument.isEmpty ? name : "\(name) \(argument)")
    default: try say(.unknownCommand)
    }
    return false
  }

  // MARK: Settings

  private mutating func set(_ name: String, _ line: String) {
    settings.removeAll { $0.name == name }
    settings.append((name, line))
  }

  private mutating func setOption(_ argument: Substring, _ line: String) throws(Failure) {
    let name = argument.drop { $0 == "-" }.prefix { $0 != "=" && $0 != " " }
    guard !name.isEmpty else { return try say(.unknownOption) }
    switch name {
    // The other one would offer to keep the passphrase elsewhere, and give what it has kept itself.
    case "allow-external-password-cache": break
    case "owner":
      let value = argument.drop { $0 != "=" }.dropFirst().drop { $0 == " " }.prefix { $0.isNumber }
      if let process = pid_t(value), process > 1 {
        kept.session.clientTerminal = ClientTerminal(ofTheJobOf: process)
        kept.session.asker = ClientProgram(getppid()).asker(for: ClientProgram(process))
      }
      set("OPTION owner", line)
    default: set("OPTION \(name)", line)
    }
    try say(.ok)
  }

  private mutating func describe(_ argument: Substring) {
    var bytes = SecretBytes(count: 0)
    bytes.append(String(argument))
    let text = AssuanText.unescaped(bytes, from: 0)
    claim = GnuPGKey.claim(in: text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }

  private func tell(_ what: Substring) throws(Failure) {
    let value: String
    switch what {
    case "pid": value = "\(getpid())"
    case "version": value = Version.text
    case "flavor": value = "whorl"
    case "ttyinfo": value = "- - -"
    default: return try say(.badParameter)
    }
    try StandardOutput.line("D \(value)")
    try say(.ok)
  }

  // MARK: Questions

  private mutating func getPassphrase() async throws(Failure) {
    let lines = settings.map(\.line)
    let hasError = settings.contains { $0.name == "SETERROR" }
    // A new passphrase, which is typed twice.
    let isNew = settings.contains { $0.name == "SETREPEAT" }
    settings.removeAll { Self.once.contains($0.name) }
    round.tries += 1
    round.typed = nil
    if hasError, round.gaveKept { round.keptIsWrong = true }
    let wanted = isNew ? nil : namedKey
    if let wanted, !hasError, !round.keptIsWrong {
      switch await kept.passphrase(of: wanted) {
      case .passphrase(let passphrase):
        round.gaveKept = true
        return try send(passphrase)
      case .cancelled: return try say(.cancelled)
      case .missing: round.isMissing = true
      case .refused, .unavailable: break
      }
    }
    switch other.perform("GETPIN", after: lines) {
    case .ok(let typed?):
      if wanted != nil, round.tries < Self.lastTry, await isToBeKept(lines) { round.typed = typed }
      try send(typed)
    case .ok(nil): try say(.ok)
    case .failed(let line): try StandardOutput.line(line)
    case .unavailable: try say(.noPinentry)
    }
  }

  /// Whether the person wants what was typed to be kept. One that replaces another needs no question.
  private mutating func isToBeKept(_ lines: [String]) async -> Bool {
    if round.keptIsWrong { return true }
    guard round.isMissing else { return false }
    if let isWanted = round.isWanted { return isWanted }
    let isWanted = await other.offersToKeep(after: lines)
    round.isWanted = isWanted
    return isWanted
  }

  private func send(_ passphrase: SharedSecret) throws(Failure) {
    try AssuanText.dataLines(passphrase.bytes).writeAnswer()
    try say(.ok)
  }

  /// Has the other pinentry answer a command about no passphrase.
  private mutating func pass(on command: String) throws(Failure) {
    let lines = settings.map(\.line)
    settings.removeAll { Self.once.contains($0.name) }
    switch other.perform(command, after: lines) {
    case .ok: try say(.ok)
    case .failed(let line): try StandardOutput.line(line)
    case .unavailable: try say(.noPinentry)
    }
  }

  private var namedKey: GnuPGKey? {
    var named = key
    named?.claim = claim
    return named
  }

  /// Stores or removes what has turned out to be right or wrong.
  ///
  /// - Parameter isRight: whether the agent has ended the conversation in good order, and so has no complaint.
  private mutating func settle(isRight: Bool) async {
    defer { round = Round() }
    guard let key = namedKey else { return }
    if isRight, let typed = round.typed {
      await kept.keep(typed, of: key)
    } else if round.keptIsWrong {
      await kept.forget(key)
    }
  }
}
