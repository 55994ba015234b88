import Fingerprint
import Vault
import Whorl

/// What one command works with: the configuration and, once it is asked for, the store.
struct Session {
  let options: GlobalOptions
  let configuration: Configuration

  init(_ options: GlobalOptions) throws(Failure) {
    self.options = options
    do {
      configuration = try Configuration.load(from: options.config)
    } catch {
      throw Failure(
        .configuration, "\(error.path): \(error.problem)", advice: "correct the file, or name another with --config")
    }
  }

  var selection: ReaderSelection { options.reader ?? configuration.reader ?? .automatic }

  /// The directory of the store.
  func directory() throws(Failure) -> String {
    if let named = options.store ?? configuration.store { return named }
    if let data = BaseDirectories.data { return "\(data)/whorl" }
    throw Failure(
      .configuration, "there is no home directory whose name is text", advice: "name the store's directory with --store"
    )
  }

  /// A reader process that starts when it is first asked something.
  func reader() -> any FingerprintReader {
    EmbeddedStore.reader(selection, program: configuration.readerProgram, fprintd: configuration.fprintd)
  }

  /// Opens the store. Starts no reader.
  func vault() throws(Failure) -> Vault {
    let directory = try directory()
    return try explained { () throws(VaultError) in try openVault(directory) }
  }

  func openVault(_ directory: String) throws(VaultError) -> Vault {
    try EmbeddedStore.open(
      at: directory, reader: selection, program: configuration.readerProgram, fprintd: configuration.fprintd)
  }

  /// Runs one call that may need a person: shows what it waits for, answers what it asks, cancels it when a signal
  /// comes, and releases the reader at the end.
  func converse<Answer: Sendable>(
    with vault: Vault, _ answers: Answers, awaiting: CommandAnswers.Awaiting = .stored,
    contextOptions: ContextOptions? = nil,
    _ call: (Vault, ContextHandle) async throws -> Answer
  ) async throws(Failure) -> Answer {
    let (context, events) = try await explained { () async throws(VaultError) in
      try await vault.openContext(contextOptions ?? ContextOptions(timeout: configuration.timeout ?? .seconds(60)))
    }
    let answers = CommandAnswers(answers, awaiting)
    let prompt = TerminalPrompt(answers.style)
    let words = PromptWords()
    words.begin(nil, "passcode", nil)
    let listener = PromptListener(events)
    let person = PromptSession(vault: vault, handle: context, words: words)
    let listening = Task {
      await listener.run { await prompt.handle($0.event, in: person.with(event: $0.number)) }
    }
    Interruption.onSignal { Task { await vault.respond(context, .cancel) } }
    let result: Result<Answer, any Error>
    do {
      result = .success(try await call(vault, context))
    } catch {
      result = .failure(error)
    }
    await listener.caughtUp()
    words.end()
    await prompt.finished(in: person)
    await vault.closeContext(context)
    await listening.value
    await vault.shutdown()
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
  func explained<Answer>(_ call: () throws(VaultError) -> Answer) throws(Failure) -> Answer {
    do { return try call() } catch { throw explained(error as any Error) }
  }

  func explained<Answer>(_ call: () async throws(VaultError) -> Answer) async throws(Failure) -> Answer {
    do { return try await call() } catch { throw explained(error as any Error) }
  }
}
