import Executors
import Fingerprint
import Glibc
internal import Moving
import Processes
import ReaderBus
import ReaderClient
import SecretModel
import SessionPrompts
internal import TerminalLines
import Wallets
import Whorl

/// The context of one command: the configuration and, when first needed, the vault and the store.
struct Session {
  let options: GlobalOptions
  let configuration: Configuration
  private let connection: CommandConnection

  init(_ options: GlobalOptions, _ connection: CommandConnection) throws(Failure) {
    self.options = options
    self.connection = connection
    do {
      configuration = try Configuration.load(from: options.config)
    } catch {
      throw Failure(
        .configuration, "\(error.path): \(error.problem)", advice: "correct the file, or name another with --config")
    }
  }

  var selection: ReaderSelection { options.reader ?? configuration.reader ?? .automatic }

  var ownReaders: OwnReaders { OwnReaders(selection: selection, configuration: configuration) }

  /// The place of the store, and its reader.
  func place() throws(Failure) -> StorePlace {
    do throws(VaultError) {
      return try vaultPlace()
    } catch {
      guard case .configuration(let problem) = error else { throw Failure(error) }
      throw Failure(.configuration, problem, advice: "name the store's directory with --store")
    }
  }

  func vaultPlace() throws(VaultError) -> StorePlace {
    try StorePlace(directory: options.store, reader: options.reader, configuration)
  }

  /// Whether this command's store is the user's store in the service, whatever the reader option.
  var isStoreOfService: Bool {
    get throws(Failure) {
      do throws(VaultError) {
        return try StorePlace(directory: options.store, reader: nil, configuration) == .own
      } catch {
        throw Failure(error)
      }
    }
  }

  // MARK: The vault

  /// The connection to the vault of this place, opened at the first call.
  func connect(to place: StorePlace) async throws(Failure) -> any VaultConnection {
    if let made = connection.current { return made }
    let made = try await explained { () async throws(VaultError) in
      try await VaultConnector.connect(to: place, configuration)
    }
    connection.keep(made)
    return made
  }

  /// Opens the store. Starts no reader.
  func store() async throws(Failure) -> any VaultService {
    let place = try place()
    let connection = try await connect(to: place)
    return try await explained { () async throws(VaultError) in try await connection.open(place) }
  }

  /// Ends the connection to the vault and waits until a private vault has ended.
  func close() async { await connection.close() }

  /// Runs a call during which the service may have polkit ask for a password.
  func withPasswordAgent<Answer>(
    _ call: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    guard try isStoreOfService else { return try await call() }
    return try await PasswordAgent.during(call)
  }

  /// The options for prompts. If a script passes the passcode, it is used at once, without waiting for a touch.
  var contextOptions: ContextOptions {
    ContextOptions(timeout: configuration.timeout ?? .seconds(60), preferPasscode: options.passcodeFd != nil)
  }

  /// The same for a command that sets a passcode.
  func contextOptions(_ guessable: GuessablePasscodeOption) -> ContextOptions {
    var options = contextOptions
    options.allowsGuessablePasscode = guessable.allowGuessable
    return options
  }

  /// Runs a call that may prompt the person, and cancels it on a signal. If the store still needs its first unlock, and
  /// somebody can answer, it asks for the passcode and repeats the call.
  func asking<Answer: Sendable>(
    _ store: any VaultService, _ answers: Answers, awaiting: CommandAnswers.Awaiting = .stored,
    options: ContextOptions? = nil, reason: String? = nil,
    _ call: (Asking) async throws -> Answer
  ) async throws(Failure) -> Answer {
    let options = options ?? contextOptions
    do throws(Failure) {
      return try await prompting(store, answers, awaiting, options, reason, call)
    } catch {
      guard error.isOfClosedItems, canGivePasscode(answers, options), try await awaitsFirstUnlock(store) else {
        throw error
      }
    }
    // The passcode that opens the store is not asked for again by the call.
    var unlocking = options
    unlocking.keepsEvidence = true
    let words = Self.unlocking(reason)
    return try await prompting(store, answers, awaiting, unlocking, words, question: words) { asking in
      _ = try await store.evaluate(.access(AccessControl(.passcode)), asking)
      return try await call(Asking(in: asking.context, reason: reason))
    }
  }

  /// Opens a store that still needs its first unlock, before calls that store items without a prompt. Does nothing if
  /// nobody can give the passcode; those calls then fail.
  ///
  /// - Parameter purpose: the person's next action.
  func openIfWaiting(
    _ store: any VaultService, _ answers: Answers, to purpose: String
  ) async throws(Failure) {
    guard canGivePasscode(answers, contextOptions), try await awaitsFirstUnlock(store) else { return }
    let words = Self.unlocking(purpose)
    try await prompting(store, answers, .stored, contextOptions, words, question: words) { try await store.unlock($0) }
  }

  /// The reason for a first unlock.
  private static func unlocking(_ purpose: String?) -> String {
    purpose.map { "unlock the store, and then \($0)" } ?? "unlock the store"
  }

  /// Whether the passcode opens the locked items. Otherwise unlocking the session does.
  private func awaitsFirstUnlock(_ store: any VaultService) async throws(Failure) -> Bool {
    try await explained { () async throws(VaultError) in
      try await !store.openClasses().contains(.afterFirstUnlock)
    }
  }

  /// Whether anybody can be asked for the passcode, or it was given with the command.
  private func canGivePasscode(_ answers: Answers, _ options: ContextOptions) -> Bool {
    guard !answers.noPrompt, !options.interactionNotAllowed else { return false }
    return answers.passcode != nil || answers.given != nil || Terminal.exists || UserEnvironment.hasDisplay
  }

  /// - Parameter question: the reason for the passcode, unless it is obvious.
  private func prompting<Answer: Sendable>(
    _ store: any VaultService, _ answers: Answers, _ awaiting: CommandAnswers.Awaiting, _ options: ContextOptions,
    _ reason: String?, question: String? = nil, _ call: (Asking) async throws -> Answer
  ) async throws(Failure) -> Answer {
    let (context, events) = try await explained { () async throws(VaultError) in
      try await store.openContext(options)
    }
    let given = answers
    let answers = CommandAnswers(answers, awaiting)
    let prompt = CommandPrompt(answers, on: desktop(answers))
    let words = PromptWords()
    words.begin(question, "passcode", nil)
    let listener = PromptListener(events)
    let person = PromptSession(service: store, handle: context, words: words)
    let listening = Task(executorPreference: BackgroundThread()) {
      await listener.run { numbered in
        let person = person.with(event: numbered.number)
        await prompt.handle(numbered.event, in: person)
        await person.shown(numbered.event)
      }
    }
    Interruption.onSignal { Task { await store.respond(context, .cancel) } }
    let result: Result<Answer, any Error>
    do {
      result = .success(try await call(Asking(in: context, reason: reason)))
    } catch {
      result = .failure(error)
    }
    await listener.caughtUp()
    words.end()
    await prompt.finished(in: person)
    await store.closeContext(context, reason: .program)
    await listening.value
    Interruption.onSignal(nil)
    switch result {
    case .success(let answer): return answer
    case .failure(let error):
      let failure = answers.failure ?? explained(error)
      guard answers.hasAskedForRecoveryKey, failure.isMistypedRecoveryKey else { throw failure }
      failure.tellToRetype()
      return try await prompting(store, given, awaiting, options, reason, question: question, call)
    }
  }

  /// Runs a call that stores an item. It may only prompt for an application password and the first unlock.
  func storing<Answer: Sendable>(
    _ item: NewItem, in store: any VaultService, _ answers: Answers, _ call: (Asking) async throws -> Answer
  ) async throws(Failure) -> Answer {
    if !item.access.applicationPassword {
      do { return try await call(.nobody) } catch VaultError.notEnrolled {
        throw explained(await ownReaders.whyNoFingerIsKnown())
      } catch {
        let failure = explained(error)
        guard failure.isOfClosedItems else { throw failure }
      }
    }
    return try await asking(store, answers, awaiting: .new, call)
  }

  /// The desktop to ask at. Nil for a command that has a terminal or may ask nobody, and where there is no desktop.
  private func desktop(_ answers: CommandAnswers) -> AgentPrompt? {
    guard answers.mayAsk, !Terminal.exists, UserEnvironment.hasDisplay else { return nil }
    // The terminal's prompt has written the same to standard error.
    return AgentPrompt(
      in: .init(bus: BaseDirectories.sessionBus, environment: UserEnvironment.entries, log: { _ in }, wording: .items),
      // Nobody sees a command without a terminal, so the program that has started it is named.
      asker: ClientProgram(getppid()).asker())
  }

  /// The answers, from this command's descriptors or the person.
  func answers(recoveryKey: Int32? = nil, applicationPassword: Int32? = nil, noPrompt: Bool = false) -> Answers {
    Answers(
      passcode: options.passcodeFd, recoveryKey: recoveryKey, applicationPassword: applicationPassword,
      noPrompt: noPrompt)
  }

  func itemName(_ text: String) throws(Failure) -> ItemName {
    do { return try ItemName(parsing: text) } catch { throw Failure(error) }
  }

  /// The failure for an error. A missing named reader is reported differently from no reader.
  func explained(_ error: any Error) -> Failure {
    switch error {
    case let failure as Failure: return failure
    case let error as VaultError:
      if error == .reader(.absent), let device = selection.device {
        return Failure(
          .notFound, "no reader \(device)", name: "LAError.biometryNotAvailable",
          advice: "'whorl reader list' lists what there is")
      }
      return Failure(error)
    case let error as WalletError: return Failure(error)
    case let error as ImportError: return Failure(error)
    case let error as ReaderError: return explained(VaultError.reader(error))
    case is CancellationError: return .cancelled
    default:
      return .defect(error)
    }
  }

  /// Runs a call to the vault that shows no prompt.
  func explained<Answer>(_ call: () async throws(VaultError) -> Answer) async throws(Failure) -> Answer {
    do { return try await call() } catch { throw explained(error as any Error) }
  }
}
