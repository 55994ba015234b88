import ArgumentParser
import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings

struct LoginOpen: Command {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open what is chosen for the login.",
    discussion: """
      Opens the keyrings of the desktop and delivers the other secrets that 'whorl login status' lists; with a kind (gnome-keyring, \
      kwallet, environment, file, command) those of that kind alone. Where the store is closed it asks for what opens it. With \
      --at-login it asks nobody, prints nothing and ends within 20 seconds: PAM and the units of the session start it so. \
      The exit status is 75 where the store is closed. With --if-closed it does nothing unless something is chosen and the \
      store is closed; then it asks once. A unit of the desktop starts it so, after a login that has opened nothing.

      Examples:
        whorl login open
        whorl login open gnome-keyring
      """)

  static var spoken: String { "login open" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("Only what is of this kind.", valueName: "kind"))
  var kind: LoginItem.Kind?

  @Flag(help: "Ask nobody, print nothing, and end soon.")
  var atLogin = false

  @Flag(help: "Ask once for what opens the store, and only where a login has left it closed.")
  var ifClosed = false

  /// The time limit for everything at a login.
  private static let limit = Duration.seconds(20)

  func validate() throws {
    if atLogin, options.json { throw ValidationError("--at-login and --json exclude each other.") }
    if atLogin, ifClosed { throw ValidationError("--at-login and --if-closed exclude each other.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    if atLogin { return try await performAtLogin(session) }
    if ifClosed {
      guard try await opensAfterLogin(session) else { return }
    }
    var outcomes = try await handOver(session)
    if outcomes.contains(where: \.isClosed) {
      try await session.asking(session.answers(), reason: "open what is chosen for the login") { vault, asking in
        try await vault.unlock(asking)
      }
      outcomes = try await handOver(session)
    }
    try report(outcomes)
    if let failure = outcomes.lazy.compactMap(\.failure).first { throw failure }
  }

  private func performAtLogin(_ session: Session) async throws(Failure) {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(null, stream) }
    // A login must not wait for a wallet or a vault that hangs.
    let watch = Task(executorPreference: BackgroundThread()) {
      try await Pause.wait(for: Self.limit)
      _exit(ExitStatus.tryAgain.rawValue)
    }
    defer { watch.cancel() }
    guard try await session.openStoreIfThere() != nil else { return }
    if let failure = try await handOver(session).lazy.compactMap(\.failure).first { throw failure }
  }

  /// Opens the store with prompts, if a login has left it closed. Returns whether there is anything to hand over now: false
  /// also where the store was open.
  private func opensAfterLogin(_ session: Session) async throws(Failure) -> Bool {
    guard try await session.openStoreIfThere() != nil else { return false }
    let (isWanted, isOpen, passcode) = try await session.request { vault in
      let entries = LoginEntries(in: vault)
      return (
        try await entries.all().contains { $0.entry.kind != .passcode },
        try await vault.openClasses().contains(.afterFirstUnlock), try await entries.loginPasscode()
      )
    }
    guard isWanted, !isOpen else { return false }
    let answers = session.answers()
    if case .different = passcode, answers.passcode == nil, !Terminal.exists, UserEnvironment.hasDisplay {
      let change = LoginPasscodeChange(CommandDialogue(session, of: Self.spoken, isQuiet: true))
      try await LoginPasscodeMending(change: change, environment: UserEnvironment.entries).run()
    } else {
      try await session.openIfWaiting(answers, to: "open what is chosen for the login")
    }
    return true
  }

  private func handOver(_ session: Session) async throws(Failure) -> [Handed] {
    let moment: LoginHandover.Moment = atLogin ? .login : .command
    let (keyring, kwallet, kind) = (try session.keyringPlaces(), try session.kwalletPlaces(), kind)
    return try await session.request { vault in
      let handover = LoginHandover(
        in: vault, keyring: keyring, kwallet: KWalletOpening(kwallet, environment: UserEnvironment.entries),
        delivery: session.delivery)
      return try await handover.run(kind, at: moment).map { Handed(entry: $0.entry, outcome: $0.outcome) }
    }
  }

  private func report(_ outcomes: [Handed]) throws(Failure) {
    if options.json { return try JSON.print(["entries": outcomes.map(\.report)]) }
    for each in outcomes where each.failure == nil {
      StandardError.line("Opened: \(Visible.text(each.entry.spoken))")
    }
    if outcomes.isEmpty {
      StandardError.line("Nothing is chosen for the login. 'whorl login --help' tells what can be.")
    }
  }
}

/// The result for one entry.
private struct Handed {
  let entry: LoginItem
  let outcome: LoginHandover.Outcome

  struct Report: Encodable {
    var kind: String
    var name: String
    var handedOver: Bool
    var problem: String?
  }

  var report: Report {
    Report(kind: entry.kind.rawValue, name: entry.name, handedOver: failure == nil, problem: failure?.what)
  }

  var isClosed: Bool { if case .closed = outcome { true } else { false } }

  var failure: Failure? {
    var failure: Failure
    switch outcome {
    case .handedOver: return nil
    case .closed(let accessibility):
      failure = Failure(VaultError.notUnlocked(accessibility))
      failure.status = .tryAgain
    case .wallet(let error): failure = Failure(error)
    case .vault(let error): failure = Failure(error)
    }
    failure.what = "\(entry.spoken): \(failure.what)"
    return failure
  }
}

extension LoginItem.Kind: ExpressibleByArgument {}
