internal import ArgumentParser
import Dispatch
internal import Glibc
internal import Passkeys
internal import Primitives
internal import Processes
internal import Prompts
internal import SDBus
internal import SSHAgent
internal import SecretModel
internal import SecretService
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// An SSH agent whose keys are in the vault, or the Secret Service with its items.
@main
struct WhorlAgent: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whorl-agent",
    abstract: "An SSH agent whose keys stay in the vault, the Secret Service of the desktop, and passkeys.",
    discussion: """
      `whorl ssh add` makes a key. The agent gives its public half to ssh, git and ssh-keygen, and has the vault sign \
      after a touch. The prompt says what for, such as "sign in to example.com as alice", as far as it can be verified. \
      It is a notification of the desktop and a line on standard error, which is the journal under systemd; in the \
      foreground of a terminal it is there.

        whorl ssh enable
        export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/whorl-agent

      Or without systemd: whorl-agent --socket PATH, or for one command: whorl-agent -- COMMAND.

      With --secret-service it is no SSH agent: it serves org.freedesktop.secrets on the session's message bus, where \
      mail programs and browsers keep their passwords. 'whorl secret-service enable' has the bus start it.

      With --passkeys it offers the passkeys of the vault to the programs of the session, as a security key (FIDO2) \
      that whorl-fido makes. 'whorl passkey enable' has the session start it.
      """)

  @Flag(help: "Serve the Secret Service (org.freedesktop.secrets) and nothing else.")
  var secretService = false

  @Flag(help: "Offer passkeys as a security key and nothing else.")
  var passkeys = false

  @Option(
    help: ArgumentHelp("What new passkeys need: any-finger (default), current-set or presence.", valueName: "rule"),
    transform: { word in
      guard let rule = AccessControl.Constraint(rawValue: word), Passkey.accessControls.contains(AccessControl(rule))
      else { throw ValidationError("--access is any-finger, current-set or presence.") }
      return rule
    })
  var access = AccessControl.Constraint.anyFinger

  @Option(
    help: ArgumentHelp(
      "Listen on a new socket at this path. Default: the socket that systemd passes.",
      valueName: "path"))
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "The socket of another agent, which keeps the keys that are not in the vault.",
      valueName: "path"))
  var upstream: String?

  @Option(
    help: ArgumentHelp(
      "A file with the keys of known hosts, in the place of those in ~/.ssh and /etc/ssh.",
      valueName: "file"))
  var knownHosts: [String] = []

  @Option(help: ArgumentHelp("The directory of a private store, as for whorl.", valueName: "dir"))
  var store: String?

  @Option(help: ArgumentHelp("The reader of a private store, as for whorl.", valueName: "selection"))
  var reader: String?

  @Option(help: ArgumentHelp("The configuration file, as for whorl.", valueName: "file"))
  var config: String?

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("A command to run with this agent, which ends with it, after --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    let hasNoAgentOptions = socket == nil && upstream == nil && knownHosts.isEmpty && command.isEmpty
    guard !secretService || hasNoAgentOptions && !passkeys else {
      throw ValidationError("--secret-service goes with --store, --reader and --config alone.")
    }
    guard !passkeys || hasNoAgentOptions else {
      throw ValidationError("--passkeys goes with --access, --store, --reader and --config alone.")
    }
  }

  func run() throws {
    let hardening = Hardening(files: AgentServer.descriptors)
    Text.begin()
    // Before any other thread exists, since threads inherit the mask.
    let endings = HeldEndingSignals()
    let listener = secretService || passkeys ? nil : try listen()
    defer { listener?.remove() }
    let (store, reader, config) = (store, reader, config)
    let open: @Sendable () throws(VaultError) -> SecretStore = { () throws(VaultError) in
      try SecretStore.open(at: store, reader: reader, configuration: config)
    }
    do throws(VaultError) {
      // Open the store once, so that a wrong option is reported now and not to each client.
      _ = try open()
    } catch {
      throw Failure(unopened: error)
    }
    let isAlone = command.isEmpty
    let log: @Sendable (String) -> Void = { Diagnostics.line($0) }
    let surroundings = AgentPrompt.Surroundings(
      bus: BaseDirectories.sessionBus, environment: OwnEnvironment.entries, log: log,
      page: passkeys ? .passkeys : secretService ? .secrets : .keys)
    let prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt = { client in
      let asker = client.asker()
      // If the agent runs a command, that command uses the terminal, so do not ask there.
      guard isAlone, Self.hasTerminal else {
        return AgentPrompt(in: surroundings, asker: asker, for: ClientTerminal(of: client.process))
      }
      var style = TerminalPromptStyle()
      style.asker = asker
      return TerminalPrompt(style)
    }
    if passkeys {
      try offerPasskeys(in: try open(), surroundings)
      return Self.leave(after: endings.wait().number)
    }
    guard let listener else {
      // The first program that asks must find what was stored before.
      bringMissedPasswords()
      try Self.serveSecrets(
        SecretServiceServer.Configuration(
          bus: surroundings.bus, openStore: open, prompt: prompt, log: log,
          ended: {
            Diagnostics.line("the message bus has ended")
            Self.leaveTerminals()
            Unfinished.ofThisProgram.undoAll()
            Glibc.exit(EXIT_FAILURE)
          }))
      return Self.leave(after: endings.wait().number)
    }
    let server = AgentServer(
      AgentConfiguration(
        bus: surroundings.bus, openStore: open, prompt: prompt, log: log,
        knownHosts: KnownHosts(home: Self.home, files: knownHosts), upstream: upstream))
    server.begin(listener.descriptor)
    if let path = listener.path, !isAlone {
      let child = try start(command, hardening, socket: path)
      Task.detached(executorPreference: BackgroundThread()) { while true { child.pass(on: endings.wait()) } }
      let ending = child.ending()
      Self.leave(after: ending.endingSignal, listener)
      throw ExitCode(ending.status)
    }
    if let path = listener.path { Diagnostics.line("listens; clients find it by SSH_AUTH_SOCK=\(path)") }
    Self.leave(after: endings.wait().number, listener)
  }

  /// Restores the terminals, and ends by the signal, as the shell of the terminal expects. Returns without a signal,
  /// and for SIGTERM, with which services are stopped.
  private static func leave(after signal: Int32?, _ listener: ListeningSocket? = nil) {
    leaveTerminals()
    // Above all a pinentry, which would stay on the screen.
    Unfinished.ofThisProgram.undoAll()
    guard let signal, signal != SIGTERM else { return }
    listener?.remove()
    EndingSignals.die(of: signal)
  }

  /// Restores the settings of this program's terminal and its clients' terminals, before the program ends.
  private static func leaveTerminals() {
    Terminal.leave()
    ClientTerminalKeys.leave()
  }

  /// Offers the passkeys of a store as a security key of this session.
  private func offerPasskeys(in store: SecretStore, _ surroundings: AgentPrompt.Surroundings) throws {
    let unknown = PromptAsker(
      name: Text.of("A program of your session"), details: Text.of("it uses the security key that Whorl offers"))
    let passkeys = StorePasskeys(
      in: store, access: AccessControl(access), turns: PromptTurns(onBus: surroundings.bus)
    ) {
      AgentPrompt(in: surroundings, asker: SecurityKeyUsers.only()?.asker() ?? unknown)
    }
    PasskeyDevice(vault: passkeys, log: surroundings.log).begin()
    Diagnostics.line("offers passkeys while the session is active")
  }

  /// How long programs wait for what they stored before. While the store is closed, nothing can be brought in, and they
  /// are served without it.
  private static let longestWait = DispatchTimeInterval.seconds(3)

  /// Has 'whorl' bring in what programs stored in the other program before this one took over, if there is any. It writes to
  /// the same journal, and goes on beside the service where it takes long.
  private func bringMissedPasswords() {
    guard let whorl = HelperPlaces(of: "whorl").locateWithExecutable() else { return }
    let options = [("--store", store), ("--reader", reader), ("--config", config)]
    let input = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    do {
      let (child, entry) = try Unfinished.ofThisProgram.start {
        try ChildProcess(
          HelperProgram(at: whorl),
          arguments: [whorl, "secret-service", "import", "--missed"]
            + options.flatMap { name, value in value.map { [name, $0] } ?? [] },
          environment: OwnEnvironment.entries, standardInput: input, showsDiagnostics: true)
      }
      let end = DispatchSemaphore(value: 0)
      child.onEnd { _ in
        Unfinished.ofThisProgram.forget(entry)
        end.signal()
      }
      _ = end.wait(timeout: .now() + Self.longestWait)
    } catch {
      Diagnostics.line("what programs stored before cannot be brought in: \(error)")
    }
  }

  /// Takes the name of the Secret Service, or throws the reason why that is not possible.
  private static func serveSecrets(_ configuration: SecretServiceServer.Configuration) throws {
    let result = Mutex<Result<SecretServiceServer.Beginning, VaultError>?>(nil)
    WaitingThread.run {
      do throws(VaultError) {
        let beginning = try await SecretServiceServer.begin(configuration)
        result.withLock { $0 = .success(beginning) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    switch result.withLock({ $0 }) {
    case .success(.serving)?: Diagnostics.line("serves org.freedesktop.secrets")
    case .success(.taken)?:
      throw Failure(
        "org.freedesktop.secrets has another owner: 'whorl secret-service enable' says which, and takes over")
    case .success(.noBus(let why))?: throw Failure("the message bus of the session cannot be reached: \(why)")
    case .failure(let error)?: throw Failure(unopened: error)
    case nil: throw Failure("the Secret Service cannot be offered")
    }
  }

  /// Starts the agent's command, with the agent's socket in its environment. The agent ends with it.
  private func start(_ command: [String], _ hardening: Hardening, socket: String) throws(Failure) -> ForegroundCommand {
    setenv("SSH_AUTH_SOCK", socket, 1)
    do throws(ChildStartError) {
      return try hardening.undone { () throws(ChildStartError) in try ForegroundCommand(command[0], command) }
    } catch {
      throw Failure("\(command[0]): \(error.words)")
    }
  }

  /// The socket that systemd passes, or a new one.
  private func listen() throws(Failure) -> ListeningSocket {
    if let socket { return try ListeningSocket(at: socket) }
    if !command.isEmpty { return try ListeningSocket(at: "\(BaseDirectories.runtime)/whorl-agent-\(getpid())") }
    guard let passed = ListeningSocket.passed() else {
      throw Failure("systemd has passed no socket: name one with --socket, or enable whorl-agent.socket")
    }
    return passed
  }

  /// Whether a person has started the program in the foreground of a terminal, and may be asked there.
  private static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// The user's home directory from the account, like `ssh`, not from `HOME`.
  private static var home: String? {
    // The entry belongs to libc and is valid until the next call.
    getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
  }
}
