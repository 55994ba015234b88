/// What was found about one thing: whether it works, what is wrong, what can be done about it, and what takes it back.
package struct Finding: Sendable {
  package enum State: Sendable {
    /// It is there, and works.
    case good
    /// It is there, and does not work as it should: ``advice`` says what to do.
    case faulty
    /// It does not work at all, as ``failure`` says.
    case failed
    /// It can be set up now: by the offers, or as ``advice`` says.
    case open
    /// Another step has to be done first.
    case later
    /// For information: nothing can be done about it here.
    case note
  }

  /// What it is about, in one or two words.
  package let subject: String
  package let state: State
  /// What was found.
  package private(set) var words: String
  /// What the person can do.
  package private(set) var advice: String?
  /// What sets it up, in order.
  package private(set) var offers: [SetupOffer] = []
  /// The command of this user that takes it back.
  package private(set) var undo: [String]?
  /// The command by which an administrator takes it back, for all users of the machine. ``UndoPlan`` leaves that.
  package private(set) var administratorsUndo: [String]?
  package private(set) var failure: Failure?

  /// The step of the setup that it is about; nil for other checks.
  package var step: SetupStep? { SetupStep(rawValue: subject) }

  /// Whether it is set up, even if it does not work.
  package var isSetUp: Bool { state == .good || state == .faulty }

  /// The command that the advice names, as it is typed: advice has commands between quotes. Nil if it names none.
  package var commandOfAdvice: String? {
    advice?.matches(of: /'((?:whorl|sudo|systemctl|git|make) [^']+)'/).first.map { String($0.output.1) }
  }

  /// The command that takes it back, as it is typed.
  package var wayBack: String? { (undo ?? administratorsUndo).map(ShellLine.text) }
}

// What `Checkup` finds.
extension Finding {
  package static func ok(_ subject: String, _ words: String) -> Self {
    Self(subject: subject, state: .good, words: words)
  }

  package static func warning(_ subject: String, _ words: String, _ advice: String?) -> Self {
    Self(subject: subject, state: .faulty, words: words, advice: advice)
  }

  /// - Parameter remedy: what to do, in place of the advice of the failure.
  package static func failed(_ subject: String, _ problem: Failure, _ remedy: String? = nil) -> Self {
    Self(
      subject: subject, state: .failed, words: problem.words, advice: remedy ?? problem.adviceOfDoctor,
      failure: problem)
  }
}

// What `SetupSurvey` finds.
extension Finding {
  /// - Parameter undo: nil if no command of this user undoes it.
  package static func done(_ step: SetupStep, _ words: String, undo: [String]?) -> Self {
    Self(subject: step.rawValue, state: .good, words: words, undo: undo)
  }

  package static func done(_ step: SetupStep, _ words: String, undoneByAdministrator command: [String]?) -> Self {
    Self(subject: step.rawValue, state: .good, words: words, administratorsUndo: command)
  }

  /// For a step that is done, and does not work any more.
  package static func faulty(_ step: SetupStep, _ words: String, _ advice: String, undo: [String]) -> Self {
    Self(subject: step.rawValue, state: .faulty, words: words, advice: advice, undo: undo)
  }

  package static func later(_ step: SetupStep, _ words: String) -> Self {
    Self(subject: step.rawValue, state: .later, words: words)
  }

  package static func note(_ step: SetupStep, _ words: String) -> Self {
    Self(subject: step.rawValue, state: .note, words: words)
  }

  package static func open(_ step: SetupStep, _ words: String, _ offers: SetupOffer..., undo: [String]) -> Self {
    Self(subject: step.rawValue, state: .open, words: words, offers: offers, undo: undo)
  }

  /// For a step that this session cannot carry out.
  package static func elsewhere(_ step: SetupStep, _ words: String, _ advice: String) -> Self {
    Self(subject: step.rawValue, state: .open, words: words, advice: advice)
  }
}
