import Executors
import Fingerprint
import Processes
import ReaderClient
import SecretModel
import Whorl

/// What one command works with: the configuration and, once they are asked for, the vault and the store.
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

  /// Where the store is, and which reader goes with it.
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

  /// A reader process of this program's own, for commands that need no store. It starts when it is first asked something.
  func reader() -> any FingerprintReader { reader(selection, fprintd: configuration.fprintd) }

  /// The same for another reader.
  ///
  /// - Parameter trace: where the traffic with one device is to be logged.
  func reader(_ selection: ReaderSelection, fprintd: FprintdPlace? = nil, trace: ReaderTrace? = nil)
    -> any FingerprintReader
  {
    // Where there is none, starting this one fails and says so.
    let places = HelperPlaces.reader
    return ReaderProcess(
      program: places.locate(configured: configuration.readerProgram) ?? places.installed[0], selection: selection,
      fprintd: fprintd ?? .system, trace: trace)
  }

  // MARK: The vault

  /// The connection to the vault of this place, made at the first call.
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

  /// Ends the connection to the vault, and waits for the vault's end: nothing of this command is left.
  func close() async { await connection.close() }

  /// Runs a call for which the service may have polkit ask for the user's own password.
  func withPasswordAgent<Answer>(
    _ call: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    guard case .own = try place(), let agent = PasswordAgent() else { return try await call() }
    let result: Result<Answer, Failure>
    do throws(Failure) {
      result = .success(try await call())
    } catch {
      result = .failure(error)
    }
    await agent.end()
    return try result.get()
  }

  /// Runs one call that may need a person: shows what it waits for, answers what it asks, and cancels it when a signal
  /// comes.
  func asking<Answer: Sendable>(
    _ store: any VaultService, _ answers: Answers, awaiting: CommandAnswers.Awaiting = .stored,
    options: ContextOptions? = nil, reason: String? = nil,
    _ call: (Asking) async throws -> Answer
  ) async throws(Failure) -> Answer {
    let (context, events) = try await explained { () async throws(VaultError) in
      try await store.openContext(options ?? ContextOptions(timeout: configuration.timeout ?? .seconds(60)))
    }
    let answers = CommandAnswers(answers, awaiting)
    let prompt = TerminalPrompt(answers.style)
    let words = PromptWords()
    words.begin(nil, "passcode", nil)
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
    case .failure(let error): throw answers.failure ?? explained(error)
    }
  }

  /// The person's answers, from the descriptors this command was given.
  func answers(recoveryKey: Int32? = nil, applicationPassword: Int32? = nil, noPrompt: Bool = false) -> Answers {
    Answers(
      passcode: options.passcodeFd, recoveryKey: recoveryKey, applicationPassword: applicationPassword,
      noPrompt: noPrompt)
  }

  func itemName(_ text: String) throws(Failure) -> ItemName {
    do { return try ItemName(parsing: text) } catch { throw Failure(error) }
  }

  /// A failure in the words of this command line: a reader that was named and is not there is another thing than none.
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
    case let error as ReaderError: return explained(VaultError.reader(error))
    case is CancellationError: return .cancelled
    default:
      return Failure(.internalError, "internal error: \(error)", name: "errSecInternalError", advice: "report it")
    }
  }

  /// Runs a call to the vault that asks nothing.
  func explained<Answer>(_ call: () async throws(VaultError) -> Answer) async throws(Failure) -> Answer {
    do { return try await call() } catch { throw explained(error as any Error) }
  }
}
