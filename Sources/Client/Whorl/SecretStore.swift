// Whorl: the library with which a program uses a store, and the one door through which Whorl's own programs
// ask the vault. Only this target holds an open vault; everybody else gets it lent for one request. Where to begin:
//
// - `SecretStore`: a store. Its requests about items are in `SecretStore+Items`; `call` makes any other that asks nobody.
// - `Inquiry`: how a person is asked for a request, in the same order for every program.
// - `AuthenticationContext`: what a person has shown; `KeptTouches` keeps it for later requests.
// - `AuthenticationPrompt`: shows the questions of a context; `TerminalPrompt` does so at the terminal.
// - `StoreLink` opens the store when it is needed, over a connection of `VaultConnector`, as `Configuration` says.

internal import Glibc
@_exported public import Primitives
@_exported public import SecretModel
internal import Synchronization

/// A store of secrets behind a finger.
///
/// ```swift
/// let store = try SecretStore.shared()
/// let item = NewItem(.genericPassword, [.service: .text("mail"), .account: .text("alice")],
///   access: try AccessControl(.biometryCurrentSet))
/// try await store.add(item, secret: SecretBytes(copying: bytes.span))
/// let found = try await store.items(ItemSearch(.genericPassword, [.service: .text("mail")]))
/// let secret = try await store.secrets(of: found.map(\.id), reason: "send the report")[0].secret
/// ```
///
/// The store is the one that the command line uses. Each program keeps its items in an access group of its own,
/// ``AccessGroup/own``. A search without a group finds the program's items and then the command line's when it reads,
/// and only the program's items when it deletes. `whorl ls` lists the items of every group. A reader is started only
/// when a person must be asked.
public final class SecretStore: Sendable {
  let link: StoreLink
  package let changes: StoreChanges
  private let prompt: Mutex<any AuthenticationPrompt>

  /// A store over a link, for tests with vaults of their own.
  package init(_ link: StoreLink, _ prompt: any AuthenticationPrompt = TerminalPrompt()) {
    self.link = link
    changes = StoreChanges(of: link)
    self.prompt = Mutex(prompt)
  }

  /// The store at a place. It is opened at the first call.
  package convenience init(_ place: StorePlace, _ configuration: Configuration) {
    self.init(
      StoreLink(to: place) { () async throws(VaultError) in try await VaultConnector.connect(to: place, configuration) }
    )
  }

  /// A store that is open already, for tests.
  package convenience init(service: any VaultService, prompt: any AuthenticationPrompt = TerminalPrompt()) {
    self.init(StoreLink(to: service), prompt)
  }

  private static let sharedStore = Mutex<SecretStore?>(nil)

  /// The store that this program and the command line use by default. It is opened at its first call and kept.
  ///
  /// Throws what ``open(at:reader:configuration:)`` throws; the next call tries again.
  public static func shared() throws(VaultError) -> SecretStore {
    try sharedStore.withLock { (shared) throws(VaultError) in
      if let shared { return shared }
      let opened = try open()
      shared = opened
      return opened
    }
  }

  /// Makes another store the shared one from now on, for programs that name their store. Nil: the next use looks for
  /// the default store again. Contexts of the earlier store stay with it.
  public static func useAsShared(_ store: SecretStore?) {
    sharedStore.withLock { $0 = store }
  }

  /// A store, which is opened at its first call. After the connection to the vault is lost, the next call opens it
  /// again; its earlier contexts are then invalid.
  ///
  /// - Parameters:
  ///   - directory: its directory; nil: the user's store in the system service if that is installed, else the
  ///     configured directory, else `$XDG_DATA_HOME/whorl`.
  ///   - reader: the reader, as for `--reader`; nil: the configured one, else `auto`. The service uses its own.
  ///   - configuration: the path of the configuration; nil: `$XDG_CONFIG_HOME/whorl/config.json`, which may be missing.
  /// - Throws: `storeNotFound` where there is none (``create(at:passcode:allowsGuessable:configuration:showing:)`` and `whorl init`
  ///   make one), and `configuration` for an unusable file or argument. The first call throws errors of the store
  ///   itself, and `serviceUnavailable` where the vault cannot be started.
  public static func open(at directory: String? = nil, reader: String? = nil, configuration: String? = nil)
    throws(VaultError) -> SecretStore
  {
    let configuration = try Configuration.settled(configuration)
    let reader = try reader.map { words throws(VaultError) in
      guard let named = ReaderSelection(words) else { throw .configuration("a reader is \(ReaderSelection.forms)") }
      return named
    }
    let place = try StorePlace(directory: directory, reader: reader, configuration)
    if case .folder(let folder) = place, unsafe access(folder.directory, F_OK) != 0 {
      throw .storeNotFound(folder.directory)
    }
    return SecretStore(place, configuration)
  }

  /// The prompt of contexts that have none of their own: on the terminal, unless set.
  public var defaultPrompt: any AuthenticationPrompt {
    get { prompt.withLock { $0 } }
    set { prompt.withLock { $0 = newValue } }
  }

  /// A context for several calls. It is invalidated when its last reference is released.
  public func makeContext(prompt: (any AuthenticationPrompt)? = nil) -> AuthenticationContext {
    AuthenticationContext(link, prompt ?? defaultPrompt)
  }

  /// Ends the connection to the vault, and waits until a private vault has ended. The next call opens the store again.
  package func close() async { await link.close() }

  /// Makes a request that asks nobody.
  package func call<Value: ~Copyable, Problem: RequestFailure>(
    _ request: VaultRequest<Value, Problem>
  ) async throws(Problem) -> Value { try await link.call(request) }

  /// Whether the store needs the passcode before anything in it can be opened (its first unlock).
  package func awaitsFirstUnlock() async throws(VaultError) -> Bool {
    try await !link.call { service throws(VaultError) in try await service.openClasses() }.contains(.afterFirstUnlock)
  }

  /// Whether items that need an unlocked session can be opened now.
  package func isUnlocked() async throws(VaultError) -> Bool {
    try await link.call { service throws(VaultError) in try await service.openClasses() }.contains(.whenUnlocked)
  }

  /// Waits until the store opens with its first unlock, or is locked again, and returns whether it is locked.
  ///
  /// - Parameter isLocked: the state that the caller knows. If it is another one already, the call returns at once.
  package func unlockChange(fromLocked isLocked: Bool) async throws(VaultError) -> Bool {
    try await !link.call { service throws(VaultError) in try await service.unlockChange(from: !isLocked) }
  }

  /// Opens the store with the passcode, as the first unlock.
  package func unlock(reason: String, using context: AuthenticationContext) async throws(VaultError) {
    try await context.perform(reason, isObvious: false) { service, asking throws(VaultError) in
      try await service.unlock(asking)
    }
  }
}

extension SecretStore {
  /// Makes a new store, for a program that finds none (`storeNotFound`).
  ///
  /// ```swift
  /// let store = try await SecretStore.create(passcode: passcode) { recoveryKey in show(recoveryKey) }
  /// ```
  ///
  /// - Parameters:
  ///   - directory: must not exist yet, in a folder that does; nil: where ``open(at:reader:configuration:)`` looks.
  ///   - passcode: at least four bytes; nil for a store without one, in which only the recovery key is a way back.
  ///   - allowsGuessable: whether to take a passcode that a day of guesses finds, because the person insists. Where the
  ///     keys of the store are not in a TPM, whoever has a copy of the store can try passcodes on it, without being counted.
  ///   - configuration: the path of the configuration; nil: the usual one.
  ///   - show: called with the text of the recovery key, which is shown once and kept nowhere. The store is created
  ///     when this returns. If it throws, no store is created: there is never one whose recovery key nobody has seen.
  /// - Throws: `storeExists`, `invalidPasscode`, `guessablePasscode`, `serviceUnavailable`, other errors of creating a store, and what
  ///   `show` throws.
  public static func create(
    at directory: String? = nil, passcode: consuming SecretBytes?, allowsGuessable: Bool = false,
    configuration: String? = nil, showing show: (borrowing SecretBytes) async throws -> Void
  ) async throws -> SecretStore {
    let configuration = try Configuration.settled(configuration)
    let place = try StorePlace(directory: directory, reader: nil, configuration)
    try await create(
      at: place, passcode: passcode, allowsGuessable: allowsGuessable, configuration, showing: show)
    return SecretStore(place, configuration)
  }

  /// Makes a new store at a place; see ``create(at:passcode:allowsGuessable:configuration:showing:)``.
  package static func create(
    at place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool, _ configuration: Configuration,
    showing show: (borrowing SecretBytes) async throws -> Void
  ) async throws {
    let connection = try await VaultConnector.connect(to: place, configuration)
    do {
      let draft = try await connection.create(place, passcode: passcode, allowsGuessable: allowsGuessable)
      try await show(draft.recoveryKey)
      try await connection.keep(draft.id)
    } catch {
      await connection.close()
      throw error
    }
    await connection.close()
  }
}
