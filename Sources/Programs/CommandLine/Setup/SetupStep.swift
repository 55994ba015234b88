/// What `whorl setup` looks at, in the order in which it is set up.
enum SetupStep: String, CaseIterable, Encodable {
  case service, store, passcode, reader, fingers, keyring, kwallet, secrets, ssh, git
}

/// The state of a step, and the commands that carry it out.
struct SetupFinding: Encodable {
  enum State: String, Encodable {
    case done
    /// The commands can be run now.
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
  /// The commands that are left, one after another, each as a person types it.
  var commands: [[String]] = []
  /// The command that takes it back.
  var wayBack: String?

  /// - Parameter wayBack: nil for what no command of this user takes back.
  static func done(_ step: SetupStep, _ words: String, wayBack: String?) -> Self {
    Self(step: step, state: .done, words: words, wayBack: wayBack)
  }

  static func later(_ step: SetupStep, _ words: String) -> Self { Self(step: step, state: .later, words: words) }

  static func note(_ step: SetupStep, _ words: String) -> Self { Self(step: step, state: .note, words: words) }

  static func open(_ step: SetupStep, _ words: String, _ commands: [String]..., wayBack: String) -> Self {
    Self(step: step, state: .open, words: words, commands: commands, wayBack: wayBack)
  }

  /// The lines for a person.
  var lines: [String] {
    let name = step.rawValue + String(repeating: " ", count: 10 - step.rawValue.count)
    let mark = state == .done ? "ok  " : state == .open ? "todo" : "    "
    var lines = ["\(mark)  \(name)\(words)"]
    if !commands.isEmpty {
      let spoken = commands.map { "'\($0.joined(separator: " "))'" }.joined(separator: ", then ")
      lines.append("                \(spoken) does it")
    }
    if state == .open, let wayBack { lines.append("                '\(wayBack)' takes it back") }
    return lines
  }
}
