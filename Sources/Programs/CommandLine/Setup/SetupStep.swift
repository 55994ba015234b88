/// What `whorl setup` looks at, in the order in which it is set up.
enum SetupStep: String, CaseIterable, Encodable {
  case service, store, passcode, reader, fingers, login, keyring, kwallet, secrets, ssh, git
}

/// A command that carries a step out, or a part of it, and the question whether to run it.
struct SetupOffer: Encodable {
  /// In the words of a person who knows none of the commands.
  let question: String
  let command: [String]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(command)
  }
}

/// The state of a step, and what is left of it.
struct SetupFinding: Encodable {
  enum State: String, Encodable {
    case done
    /// It can be done now: by the commands, or as ``advice`` says.
    case open
    /// Another step has to be done first.
    case later
    /// For information: no command of this user can change it.
    case note
  }

  let step: SetupStep
  let state: State
  /// What was found.
  let words: String
  /// What is left, one after another.
  private(set) var commands: [SetupOffer] = []
  /// What the person can do without Whorl, where no command does it.
  private(set) var advice: String?
  /// The command that takes it back, as a shell reads it.
  private(set) var wayBack: String?
  /// The same, to be run.
  private(set) var undo: [String]?

  private enum CodingKeys: CodingKey { case step, state, words, commands, advice, wayBack }

  /// - Parameter undo: nil for what no command of this user takes back.
  static func done(_ step: SetupStep, _ words: String, undo: [String]?) -> Self {
    Self(step: step, state: .done, words: words, wayBack: undo.map(ShellLine.text), undo: undo)
  }

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
    let mark = state == .done ? "ok  " : state == .open ? "todo" : "    "
    let column = String(repeating: " ", count: 16)
    return ["\(mark)  \(name)\(words)"] + commands.map { column + ShellLine.text($0.command) }
      + (advice.map { [column + $0] } ?? [])
  }

  /// The lines of what is on, with the command that takes it back.
  var wayBackLines: [String] {
    ["  \(name)\(words)"] + (wayBack.map { [String(repeating: " ", count: 12) + "undo: " + $0] } ?? [])
  }

  private var name: String { step.rawValue + String(repeating: " ", count: 10 - step.rawValue.count) }
}
