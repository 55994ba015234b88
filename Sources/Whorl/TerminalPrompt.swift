internal import Dispatch
internal import Glibc
internal import SecureMemory
public import Vault

/// Shows prompts as lines on the controlling terminal and reads secrets there, unseen. Without a terminal nothing is
/// shown and no secret is given. Where a fallback may be chosen, Enter chooses it.
public struct TerminalPrompt: AuthenticationPrompt {
  private let fallbackKeys = FallbackKeys()

  /// A prompt on the terminal the program was started from.
  public init() {}

  /// Shows the event, or asks for the secret.
  public func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted(let request):
      let orEnter = request.passcodeInstead && fallbackKeys.watch(for: session)
      Self.tell(Self.words(request, session, orEnter: orEnter))
    case .retry(.tooShort): Self.tell("Too short: touch again.")
    case .retry(.centerFinger): Self.tell("Off centre: touch again.")
    case .retry: Self.tell("That could not be read: touch again.")
    case .noMatch(let remaining): Self.tell("That finger is not enrolled; touches left: \(remaining).")
    case .fingerUnavailable:
      fallbackKeys.stop(session)
      Self.tell("No finger can be used now.")
    case .secretWanted(let request):
      fallbackKeys.stop(session)
      let question =
        switch request {
        case .passcode: "Passcode"
        case .newPasscode: "New passcode"
        case .recoveryKey: "Recovery key"
        case .applicationPassword(let name): "Password of \(name)"
        }
      let reason = session.reason.map { " to \($0)" } ?? ""
      if let secret = await Self.read("\(question)\(reason): ") {
        await session.answer(secret.take() ?? SecretBytes(count: 0))
      } else {
        await session.decline()
      }
    case .notice(.passcodeDelay(let seconds)):
      Self.tell("The next passcode is taken in \(seconds == 1 ? "1 second" : "\(seconds) seconds").")
    case .matched: fallbackKeys.stop(session)
    case .fingerPresent, .enrolmentStage, .notice: break
    }
  }

  /// Waits for no key any more.
  public func finished(in session: PromptSession) async { fallbackKeys.stop(session) }

  private static func words(_ request: TouchRequest, _ session: PromptSession, orEnter: Bool) -> String {
    let reason = session.reason.map { " to \($0)" } ?? ""
    let kind =
      switch request.reader.nature {
      case .physical: ""
      case .virtual: "virtual "
      case .replayed: "replayed "
      }
    let touch = "Touch the \(kind)reader (\(request.reader.name))\(reason)"
    return orEnter ? "\(touch), or press Enter: \(session.fallbackTitle ?? "go on without a finger")." : "\(touch)."
  }

  private static func tell(_ line: String) {
    let terminal = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return }
    defer { close(terminal) }
    write(line + "\n", to: terminal)
  }

  /// What the words say comes in part from the program: no control characters, which could redraw the terminal.
  private static func write(_ text: String, to terminal: Int32) {
    let shown = String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { $0 == "\n" || $0.properties.generalCategory != .control }))
    let bytes = Array(shown.utf8)
    // Borrows the bytes; a terminal that has gone loses them.
    _ = Glibc.write(terminal, bytes, bytes.count)
  }

  /// Reading waits for a person: on a thread of its own.
  private static func read(_ question: String) async -> SecretHandover? {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "whorl.question").async {
        continuation.resume(returning: readNow(question).map { SecretHandover($0.take()) })
      }
    }
  }

  private static func readNow(_ question: String) -> SecretHandover? {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else { return nil }
    var quiet = before
    quiet.c_lflag &= ~tcflag_t(ECHO)
    // What was typed before the question is not its answer.
    guard tcsetattr(terminal, TCSAFLUSH, &quiet) == 0 else { return nil }
    defer {
      tcsetattr(terminal, TCSANOW, &before)
      write("\n", to: terminal)
    }
    write(question, to: terminal)
    guard let secret = try? SecretBytes.readLine(from: terminal, limit: 1024) else { return nil }
    return SecretHandover(secret)
  }
}
