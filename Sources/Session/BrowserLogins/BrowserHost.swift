// BrowserLogins: the logins of the store for a browser, over the protocol of KeePassXC-Browser. A browser starts one
// process for each connection (`whorl browser host`). Begin here: `BrowserHost` reads messages and writes answers,
// `BrowserConversation` opens and seals them, `BrowserClient` answers, `LoginDesk` asks the store and the person, and
// `SiteAddress` decides which logins a page may have.

internal import Primitives
package import SecretModel
package import SessionPrompts
internal import Synchronization
package import Whorl

/// A native messaging host: serves one browser over two descriptors until the browser closes them.
package struct BrowserHost: Sendable {
  package struct Configuration: Sendable {
    /// The address of the session's bus, on which programs take turns to prompt.
    package var bus: String
    /// The browser.
    package var program: ClientProgram
    /// Distinguishes the store from others of the user.
    package var identity: String
    /// The rule of new logins.
    package var access: AccessControl
    package var openStore: @Sendable () throws(VaultError) -> SecretStore
    package var prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
    package var log: @Sendable (String) -> Void

    package init(
      bus: String, program: ClientProgram, identity: String, access: AccessControl,
      openStore: @escaping @Sendable () throws(VaultError) -> SecretStore,
      prompt: @escaping @Sendable (ClientProgram) -> any AuthenticationPrompt,
      log: @escaping @Sendable (String) -> Void
    ) {
      (self.bus, self.program, self.identity, self.access) = (bus, program, identity, access)
      (self.openStore, self.prompt, self.log) = (openStore, prompt, log)
    }
  }

  /// The most requests that wait for the person at a time.
  private static let mostWaiting = 4

  private let configuration: Configuration
  private let output: Output

  package init(_ configuration: Configuration, writingTo output: Int32) {
    (self.configuration, self.output) = (configuration, Output(output))
  }

  /// Serves the browser until it closes the connection. Reads block the thread.
  package func serve(readingFrom input: Int32) async {
    await Principal.$program.withValue(configuration.program.words) { await converse(input) }
  }

  private func converse(_ input: Int32) async {
    let store = OpenedStore(configuration.openStore)
    let configuration = configuration
    let turns = PromptTurns(onBus: configuration.bus)
    let touches = KeptTouches<LoginDesk.Purpose>()
    let conversation = BrowserConversation { key in
      BrowserClient(key: key, identity: configuration.identity, access: configuration.access) {
        () throws(VaultError) in
        LoginDesk(
          store: try store.get(), program: configuration.program, turns: turns, touches: touches,
          prompt: configuration.prompt, log: configuration.log)
      }
    }
    let waiting = Waiting()
    while true {
      let message: SharedSecret
      do throws(NativeFrame.Problem) {
        message = try NativeFrame.read(from: input)
      } catch {
        if error == .broken { configuration.log("the browser's message is longer than 1 MiB, or broken off") }
        break
      }
      let errand = conversation.errand(for: message)
      guard errand.mayAsk else {
        guard output.write(await errand.answer()) else { break }
        continue
      }
      // What more than a person can answer is refused.
      let waits = waiting.begin(Self.mostWaiting) { [output] in
        guard output.write(await errand.answer()), let message = await errand.followUp() else { return }
        _ = output.write(message)
      }
      if !waits, !output.write(errand.refusal) { break }
    }
    await waiting.end()
    touches.forget()
  }
}

/// The store, which is opened at the first use, and may not be there before.
private final class OpenedStore: Sendable {
  private let open: @Sendable () throws(VaultError) -> SecretStore
  private let opened = Mutex<SecretStore?>(nil)

  init(_ open: @escaping @Sendable () throws(VaultError) -> SecretStore) { self.open = open }

  func get() throws(VaultError) -> SecretStore {
    try opened.withLock { (opened) throws(VaultError) in
      if let opened { return opened }
      let new = try open()
      opened = new
      return new
    }
  }
}

/// Writes whole answers, one at a time.
private final class Output: Sendable {
  private let descriptor: Int32
  private let turn = Mutex(())

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Returns whether the browser still reads.
  func write(_ text: String) -> Bool {
    turn.withLock { _ in (try? NativeFrame.write(text, to: descriptor)) != nil }
  }
}

/// The requests that wait for the person.
private final class Waiting: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  /// Runs an action beside the others; returns false if as many as may are running.
  func begin(_ most: Int, _ action: @escaping @Sendable () async -> Void) -> Bool {
    state.withLock { state in
      guard state.tasks.count < most else { return false }
      state.last += 1
      let number = state.last
      // A prompt may block its thread, so each has one of its own.
      state.tasks[number] = Task(executorPreference: BackgroundThread()) { [self] in
        await action()
        self.state.withLock { $0.tasks[number] = nil }
      }
      return true
    }
  }

  /// Cancels all of them, and waits for their ends.
  func end() async {
    let tasks = state.withLock { Array($0.tasks.values) }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
