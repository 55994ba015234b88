@_exported public import Fingerprint
@_exported public import SecretModel
@_exported public import SecureMemory
internal import Synchronization
package import Vault

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
/// The store is the one the command line uses. Each program keeps its items in an access group of its own,
/// ``AccessGroup/own``; without a group in a search, reading finds them and then the command line's, and deleting finds
/// them alone. `whorl ls` lists the items of every group. Where nothing is asked of a person no reader is started.
public final class SecretStore: Sendable {
  package let vault: Vault
  private let prompt: Mutex<any AuthenticationPrompt>

  /// Stores of tests have a vault of their own.
  package init(vault: Vault, prompt: any AuthenticationPrompt = TerminalPrompt()) {
    self.vault = vault
    self.prompt = Mutex(prompt)
  }

  private static let sharedStore = Mutex<SecretStore?>(nil)

  /// The store this program finds as the command line does, opened at the first use and kept.
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

  /// Uses another store as the shared one from now on: for programs that name their store. Nil: looked for anew at the
  /// next use. Contexts of the earlier one stay with it.
  public static func useAsShared(_ store: SecretStore?) {
    sharedStore.withLock { $0 = store }
  }

  /// Opens a store.
  ///
  /// - Parameters:
  ///   - directory: where it lies; nil: as the configuration says, else `$XDG_DATA_HOME/whorl`.
  ///   - reader: the words of `--reader`; nil: as the configuration says, else `auto`.
  ///   - configuration: the path of the configuration; nil: `$XDG_CONFIG_HOME/whorl/config.json`, which may be missing.
  /// - Throws: `storeNotFound` where there is none (make one with ``create(at:passcode:)`` or `whorl init`),
  ///   `configuration` for a file or words that cannot be used, and what is wrong with the store itself.
  public static func open(at directory: String? = nil, reader: String? = nil, configuration: String? = nil)
    throws(VaultError) -> SecretStore
  {
    let settings = try EmbeddedStore.settings(directory: directory, reader: reader, configuration: configuration)
    return SecretStore(
      vault: try EmbeddedStore.open(
        at: settings.directory, reader: settings.reader, program: settings.readerProgram,
        fprintd: settings.fprintd))
  }

  /// Makes a new store and gives the text of its recovery key, which is shown once and kept nowhere.
  ///
  /// - Parameters:
  ///   - directory: must not exist yet, in a folder that does.
  ///   - passcode: at least four bytes; nil for a store without one, in which only the recovery key is a way back.
  public static func create(at directory: String, passcode: consuming SecretBytes?) async throws(VaultError)
    -> SecretBytes
  {
    try await Vault.create(at: directory, passcode: passcode)
  }

  /// How the prompts of contexts are shown that have none of their own: on the terminal, unless set.
  public var defaultPrompt: any AuthenticationPrompt {
    get { prompt.withLock { $0 } }
    set { prompt.withLock { $0 = newValue } }
  }

  /// A context for several calls. It is invalidated when it is let go.
  public func makeContext(prompt: (any AuthenticationPrompt)? = nil) -> AuthenticationContext {
    AuthenticationContext(vault, prompt ?? defaultPrompt)
  }

  /// Stores an item, in the program's own access group where it names none. Never asks for anything; an application
  /// password has to be in the context already.
  ///
  /// - Throws: `duplicateItem` where one with the same primary attributes lives (over one whose set or passcode is gone
  ///   it succeeds), `notEnrolled` and `passcodeNotSet` for constraints nobody could satisfy, `interactionNotAllowed`
  ///   without the application password.
  @discardableResult
  public func add(_ item: NewItem, secret: consuming SecretBytes, using context: AuthenticationContext? = nil)
    async throws(VaultError) -> Item
  {
    guard !item.access.applicationPassword || context?.isApplicationPasswordSet == true else {
      throw .interactionNotAllowed
    }
    return try await vault.add(item.inOwnGroup, secret: secret, in: try await context?.handle())
  }

  /// The items meant, oldest first; living ones unless the search says otherwise. A search that names no group finds the program's own items, and after them
  /// the command line's. Asks for nothing: attributes are sealed, but need no finger.
  public func items(_ search: ItemSearch) async throws(VaultError) -> [Item] {
    try await vault.items(search.forReading)
  }

  /// Releases secrets, in the order of `ids`: one touch, or one passcode, for all of them, or nothing.
  ///
  /// What the context was satisfied with before is not asked for again, and what is asked for now serves its later
  /// calls. Without a context the default prompt is shown, for this call alone.
  ///
  /// - Throws: `itemGone` where one does not exist any more, `itemInvalidated` where its set or passcode is gone, and all
  ///   that an authentication may end with.
  public func secrets(of ids: [ItemID], reason: String? = nil, using context: AuthenticationContext? = nil)
    async throws(VaultError) -> [ReleasedItem]
  {
    if context == nil {
      // Most need nobody: only then is somebody asked.
      do {
        return try await vault.secrets(of: ids, reason: reason, in: nil)
      } catch .interactionNotAllowed {}
    }
    return try await asking(context, reason) { handle throws(VaultError) in
      try await self.vault.secrets(of: ids, reason: reason, in: handle)
    }
  }

  /// Changes items, all of them or none; `secret` takes the place of each one's. A protected item asks for what reading
  /// it asks for.
  public func update(
    _ ids: [ItemID], _ change: ItemChange, secret: consuming SecretBytes? = nil, reason: String? = nil,
    using context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let secret = SecretHandover(secret)
    try await asking(context, reason) { handle throws(VaultError) in
      try await self.vault.update(ids, change.keepingGroup, secret: secret.take(), reason: reason, in: handle)
    }
  }

  /// Removes items, all of them or none; those that are gone already do not count. Asks for nothing.
  public func delete(_ ids: [ItemID]) async throws(VaultError) {
    try await vault.delete(ids)
  }

  /// Removes every item a search means, all of them or none, and says how many. A search that names no group means the
  /// program's own items alone. Asks for nothing.
  ///
  /// - Throws: `itemGone` where there are none, `invalidRequest` for a search without a class, ids or an attribute.
  @discardableResult
  public func delete(_ search: ItemSearch) async throws(VaultError) -> Int {
    try await delete(search) { _ in true }
  }

  /// Removes those items of a search that are meant.
  @discardableResult
  package func delete(_ search: ItemSearch, where isMeant: @Sendable (Item) -> Bool) async throws(VaultError) -> Int {
    try await vault.delete(search.forChanging, where: isMeant)
  }

  /// Uses a private key inside the vault, after what its access control asks for. The key stays there.
  package func useKey(
    _ id: ItemID, _ use: KeyUse, reason: String? = nil, using context: AuthenticationContext? = nil
  ) async throws(VaultError) -> SecretBytes {
    let answer = try await asking(context, reason) { handle throws(VaultError) in
      SecretHandover(try await self.vault.useKey(id, use, reason: reason, in: handle))
    }
    return answer.take() ?? SecretBytes(count: 0)
  }

  /// Whether reading the item in this context would ask for nothing.
  package func isSatisfied(_ item: Item, by context: AuthenticationContext?) async throws(VaultError) -> Bool {
    try await vault.isSatisfied(item.id, by: try await context?.handle())
  }

  /// Why no finger can be asked for now: `notEnrolled`, `biometryLockout`, or what is wrong with the reader. Nil when one
  /// can.
  public func biometryProblem() async -> VaultError? { await vault.biometryProblem() }

  /// Whether a reader is attached.
  public func hasReader() async -> Bool { await vault.hasReader() }

  /// Whether the store has a passcode.
  public func passcodeIsSet() async throws(VaultError) -> Bool { try await vault.passcodeIsSet() }

  /// What stands in for `evaluatedPolicyDomainState`: 32 bytes that stay the same until a finger is added, removed or
  /// replaced, and are different ever after. Nil where no finger is enrolled.
  public func enrolmentState() async throws(VaultError) -> [UInt8]? { try await vault.enrolmentState() }

  /// Runs a call in the context given, or in one of its own.
  private func asking<T>(
    _ context: AuthenticationContext?, _ reason: String?, _ call: (ContextHandle) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    if let context { return try await context.perform(reason, call) }
    let own = makeContext()
    defer { own.end() }
    return try await own.perform(reason, call)
  }
}

/// Carries one secret through a closure, which cannot capture a value that is not copyable.
///
/// `@unchecked Sendable`: filled once and emptied once, by one call after the other.
package final class SecretHandover: @unchecked Sendable {
  private var secret: SecretBytes?

  package init(_ secret: consuming SecretBytes?) { self.secret = secret }

  package func take() -> SecretBytes? {
    var taken: SecretBytes? = nil
    swap(&taken, &secret)
    return taken
  }
}
