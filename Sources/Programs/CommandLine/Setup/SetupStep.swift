/// The steps of `whorl setup`, in order.
enum SetupStep: String, CaseIterable, Encodable {
  case service, store, passcode, reader, fingers, login, keyring, kwallet, secrets, passkeys, ssh, git, sync
}

/// A command for a step or a part of it, and the question whether to run it.
struct SetupOffer: Encodable {
  /// In plain words, without names of commands.
  let question: String
  let command: [String]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(command)
  }
}

/// The state of a step, and what is left to do.
struct SetupFinding: Encodable {
  enum State: String, Encodable {
    case done
    /// It can be done now: by the commands, or as ``advice`` says.
    case open
    /// Another step has to be done first.
    case later
    /// For information: `setup` does nothing about it.
    case note
  }

  let step: SetupStep
  let state: State
  /// What was found.
  let words: String
  /// The remaining commands, in order.
  private(set) var commands: [SetupOffer] = []
  /// What the person can do: about a step that no command does, or about one that is done and does not work.
  private(set) var advice: String?
  /// The command that undoes it, in shell syntax.
  private(set) var wayBack: String?
  /// The same command as separate words.
  private(set) var undo: [String]?

  private enum CodingKeys: CodingKey { case step, state, words, commands, advice, wayBack }

  /// - Parameter undo: nil if no command of this user undoes it.
  static func done(_ step: SetupStep, _ words: String, undo: [String]?) -> Self {
    Self(step: step, state: .done, words: words, wayBack: undo.map(ShellLine.text), undo: undo)
  }

  /// For what an administrator undoes, and `whorl setup --undo` leaves, since it is for all users of the machine.
  static func done(_ step: SetupStep, _ words: String, undoneByAdministrator command: [String]?) -> Self {
    Self(step: step, state: .done, words: words, wayBack: command.map(ShellLine.text))
  }

  /// For a step that is done, and does not work any more.
  static func faulty(_ step: SetupStep, _ words: String, _ advice: String, undo: [String]) -> Self {
    Self(step: step, state: .done, words: words, advice: advice, wayBack: ShellLine.text(undo), undo: undo)
  }

  /// Whether it is done and does not work, as ``words`` and ``advice`` say.
  var isFaulty: Bool { state == .done && advice != nil }

  static func later(_ step: SetupStep, _ words: String) -> Self { Self(step: step, state: .later, words: words) }

  static func note(_ step: SetupStep, _ words: String) -> Self { Self(step: step, state: .note, words: words) }

  static func open(_ step: SetupStep, _ words: String, _ offers: SetupOffer..., undo: [String]) -> Self {
    Self(step: step, state: .open, words: words, commands: offers, wayBack: ShellLine.text(undo), undo: undo)
  }

  /// For a step that this session cannot carry out.
  static func elsewhere(_ step: SetupStep, _ words: String, _ advice: String) -> Self {
    Self(step: step, state: .open, words: words, advice: advice)
  }

  /// The lines for a person, with the commands that are left.
  var lines: [String] {
    let mark = isFaulty ? "warn" : state == .done ? "ok  " : state == .open ? "todo" : "    "
    let column = String(repeating: " ", count: 16)
    return ["\(mark)  \(name)\(words)"] + commands.map { column + ShellLine.text($0.command) }
      + (advice.map { [column + $0] } ?? [])
  }

  /// The lines for a finished step, with the command that undoes it.
  var wayBackLines: [String] {
    ["  \(name)\(words)"] + (advice.map { [String(repeating: " ", count: 12) + $0] } ?? [])
      + (wayBack.map { [String(repeating: " ", count: 12) + "undo: " + $0] } ?? [])
  }

  private var name: String { step.rawValue + String(repeating: " ", count: 10 - step.rawValue.count) }
}
