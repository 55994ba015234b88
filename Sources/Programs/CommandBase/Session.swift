import Glibc
internal import Moving
internal import Primitives
internal import Processes
package import Prompts
import ReaderBus
import ReaderClient
package import SecretModel
package import SessionPrompts
package import Settings
package import Whorl

/// The context of one command: the configuration and, when first needed, the vault and the store.
package struct Session: SettingsContext {
  package let options: GlobalOptions
  package let configuration: Configuration
  private let connection: CommandConnection
  /// The terminal of a program that this command serves, for a command that has none itself.
  package var clientTerminal: ClientTerminal?
  /// The program for which this command asks, if the person has not started the command. Prompts name it.
  package var asker: PromptAsker?

  package init(_ options: GlobalOptions, _ connection: CommandConnection) throws(Failure) {
    self.options = options
    self.connection = connection
    do {
      configuration = try Configuration.load(from: options.config)
    } catch {
      throw Failure(
        .configuration, "\(error.path): \(error.problem)", advice: "correct the file, or name another with --config")
    }
  }

  package var named: NamedStore {
    NamedStore(configuration: options.config, directory: options.store, reader: options.reader)
  }

  package func atInterruption(_ action: (@Sendable () -> Void)?) { Interruption.onSignal(action) }

  // MARK: The vault

  /// The connection to the vault of this place, opened at the first call.
  package func connect(to place: StorePlace) async throws(Failure) -> any VaultConnection {
    if let made = connection.current { return made }
    let made = try await explained { () async throws(VaultError) in
      try await VaultConnector.connect(to: place, configuration)
    }
    connection.keep(made)
    return made
  }

  /// The store of this command, opened at its first use: a connection opens one store, once. Starts no reader.
  package func openStore() async throws(Failure) -> SecretStore {
    if let open = connection.store { return open }
    let place = try place()
    let vault = try await connect(to: place)
    let open = try await explained { () async throws(VaultError) in SecretStore(service: try await vault.open(place)) }
    connection.keep(open)
    return open
  }

  /// Ends the connection to the vault and waits until a private vault has ended.
  package func close() async { await connection.close() }

  /// Runs a call during which the service may have polkit ask for a password.
  package func withPasswordAgent<Answer>(
    _ call: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    guard try isStoreOfService else { return try await call() }
    return try await PasswordAgent.during(call)
  }

  /// The options for prompts. If a script passes the passcode, it is used at once, without waiting for a touch.
  package var contextOptions: ContextOptions {
    ContextOptions(timeout: configuration.timeout ?? .seconds(60), preferPasscode: options.passcodeFd != nil)
  }

  /// Makes a request to the store that may prompt the person, and cancels it on a signal. If the store still needs its
  /// first unlock, and somebody can answer, it asks for the passcode and repeats the request.
  ///
  /// - Parameters:
  ///   - triesFirst: whether to make the request without asking anybody first.
  ///   - endsWithConnection: for the last request of a command: its context ends with the connection, without a call.
  ///   - other: another store than that of the session.
  package nonisolated(nonsending) func asking<Answer: Sendable>(
    _ answers: Answers, awaiting: CommandAnswers.Awaiting = .stored, options: ContextOptions? = nil,
    reason: String? = nil, triesFirst: Bool = false, endsWithConnection: Bool = false, in other: SecretStore? = nil,
    _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer {
    let store = if let other { other } else { try await openStore() }
    let keep: ((AuthenticationContext) -> Void)? = endsWithConnection ? { connection.hold($0) } : nil
    return try await inquiring(answers, awaiting, options ?? contextOptions, reason) { inquiry throws(Failure) in
      var inquiry = inquiry
      inquiry.triesSilently = triesFirst
      return try await inquiry.ask(in: store, keep: keep) { vault, asking throws(Failure) in
        do { return try await request(vault, asking) } catch { throw explained(error) }
      }
    }
  }

  /// Opens a store that still needs its first unlock, before requests that store items without a prompt. Does nothing if
  /// nobody can give the passcode; those requests then fail.
  ///
  /// - Parameter purpose: the person's next action.
  package func openIfWaiting(_ answers: Answers, to purpose: String) async throws(Failure) {
    let store = try await openStore()
    guard canGivePasscode(answers, contextOptions) else { return }
    try await inquiring(answers, .stored, contextOptions, purpose) { inquiry throws(Failure) in
      _ = try await explained { () async throws(VaultError) in try await inquiry.unlockIfWaiting(store) }
    }
  }

  /// Makes a request that stores an item. It may only prompt for an application password and the first unlock.
  package func storing<Answer: Sendable>(
    _ item: NewItem, _ answers: Answers, _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer {
    do throws(Failure) {
      return try await asking(
        answers, awaiting: .new, triesFirst: !item.access.applicationPassword, request)
    } catch  where error.cause == .notEnrolled && !item.access.applicationPassword {
      throw explained(await ownReaders.whyNoFingerIsKnown())
    }
  }

  /// The secret of an item for a program that stores its credentials here. Prompts only if needed, and asks again if the
  /// vault ends meanwhile, since nobody would see advice from a helper of git.
  package func secret(of item: Item, reason: String, noPrompt: Bool) async throws(Failure) -> ReleasedItem {
    var options = contextOptions
    options.interactionNotAllowed = noPrompt
    let chosen = options
    return try await repeatingIfVaultEnds { () throws(Failure) in
      try await asking(answers(noPrompt: noPrompt), options: chosen, reason: reason, triesFirst: true) {
        vault, asking in
        try await vault.secrets(.ids([item.id]), asking)[0]
      }
    }
  }

  /// Makes a request that changes nothing, and makes it once more with a new connection if the vault ends meanwhile.
  package func repeatingIfVaultEnds<Answer: Sendable>(
    _ request: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(Failure) {
      return try await request()
    } catch  where error.vaultHasEnded {
      await close()
      return try await request()
    }
  }

  /// Whether anybody can be asked for the passcode, or it was given with the command.
  private func canGivePasscode(_ answers: Answers, _ options: ContextOptions) -> Bool {
    guard !answers.noPrompt, !options.interactionNotAllowed else { return false }
    return answers.passcode != nil || answers.given != nil || Terminal.exists || canAskElsewhere
  }

  /// Whether a person can be asked other than at this command's own terminal.
  package var canAskElsewhere: Bool { UserEnvironment.hasDisplay || clientTerminal != nil }

  /// Asks with the prompts and answers of this command. Says what could not be answered, and lets a person type a
  /// mistyped recovery key again.
  nonisolated(nonsending) private func inquiring<Answer: Sendable>(
    _ answers: Answers, _ awaiting: CommandAnswers.Awaiting, _ options: ContextOptions, _ reason: String?,
    _ ask: (Inquiry) async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    while true {
      let given = CommandAnswers(answers, awaiting, for: asker)
      var inquiry = Inquiry(reason, prompt: CommandPrompt(given) { desktop(given) })
      inquiry.options = AuthenticationContext.Options(options)
      inquiry.options.fallbackTitle = "passcode"
      // A command says itself why it asks and how it has ended.
      inquiry.options.speaksForItself = asker == nil
      inquiry.triesSilently = false
      if canGivePasscode(answers, options) { inquiry.firstUnlock = .together }
      inquiry.follow = { context in
        guard let context else { return Interruption.onSignal(nil) }
        Interruption.onSignal { context.cancel() }
      }
      do throws(Failure) {
        return try await ask(inquiry)
      } catch {
        let failure = given.failure ?? explained(error)
        guard given.hasAskedForRecoveryKey, failure.isMistypedRecoveryKey else { throw failure }
        failure.tellToRetype()
      }
    }
  }

  /// The desktop to ask at, or the terminal of the program that is served. Nil for a command that has a terminal or may
  /// ask nobody, and where there is neither.
  private func desktop(_ answers: CommandAnswers) -> AgentPrompt? {
    guard answers.mayAsk, !Terminal.exists, canAskElsewhere else { return nil }
    // The terminal's prompt has written the same to standard error.
    return AgentPrompt(
      in: .init(bus: BaseDirectories.sessionBus, environment: UserEnvironment.entries, log: { _ in }, wording: .items),
      // Nobody sees a command without a terminal, so the program that has started it is named.
      asker: asker ?? ClientProgram(getppid()).asker(), for: clientTerminal)
  }

  /// The answers, from this command's descriptors or the person.
  package func answers(recoveryKey: Int32? = nil, applicationPassword: Int32? = nil, noPrompt: Bool = false) -> Answers
  {
    Answers(
      passcode: options.passcodeFd, recoveryKey: recoveryKey, applicationPassword: applicationPassword,
      noPrompt: noPrompt)
  }

  package func itemName(_ text: String) throws(Failure) -> ItemName {
    do { return try ItemName(parsing: text) } catch { throw Failure(error) }
  }
}
