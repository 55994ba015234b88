@_exported public import Fingerprint
internal import Glibc
@_exported public import SecretModel
@_exported public import SecureMemory
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

  /// Stores an item, in the program's own access group if it names none. Never asks for anything: an application
  /// password must be set in the context before.
  ///
  /// - Throws: `duplicateItem` where there is a living item with the same primary attributes (one whose set or passcode
  ///   is gone is replaced), `notEnrolled` and `passcodeNotSet` for constraints that nobody could satisfy,
  ///   `interactionNotAllowed` without the application password.
  @discardableResult
  public func add(_ item: NewItem, secret: consuming SecretBytes, using context: AuthenticationContext? = nil)
    async throws(VaultError) -> Item
  {
    guard !item.access.applicationPassword || context?.isApplicationPasswordSet == true else {
      throw .interactionNotAllowed
    }
    let (item, secret) = (item.inOwnGroup, SharedSecret(secret))
    guard let context else {
      return try await link.call { service throws(VaultError) in
        try await service.add(item, secret: secret.copy(), replacing: false, Asking.nobody.onBehalf)
      }
    }
    return try await context.consult { service, handle throws(VaultError) in
      try await service.add(item, secret: secret.copy(), replacing: false, Asking(in: handle).onBehalf)
    }
  }

  /// Stores an item. Replaces a living one with the same primary attributes. Asks for nothing.
  package func put(_ item: NewItem, secret: SharedSecret) async throws(VaultError) -> Item {
    try await link.call { service throws(VaultError) in
      try await service.add(item, secret: secret.copy(), replacing: true, Asking.nobody.onBehalf)
    }
  }

  /// One page of the items that a search finds. Asks for nothing.
  package func page(_ search: ItemSearch) async throws(VaultError) -> ItemPage {
    try await link.call { service throws(VaultError) in try await service.items(search, .nobody) }
  }

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

  /// The items that a search finds, oldest first; only living ones unless the search says otherwise. A search that
  /// names no group finds the program's own items, and after them the command line's. Asks for nothing: attributes are
  /// sealed, but need no finger.
  public func items(_ search: ItemSearch) async throws(VaultError) -> [Item] { try await items(search, using: nil) }

  /// The same, with a context for ``ItemSearch/interaction``.
  package func items(_ search: ItemSearch, using context: AuthenticationContext?) async throws(VaultError) -> [Item] {
    let search = search.forReading
    guard let context else {
      return try await link.call { service throws(VaultError) in try await service.allItems(search) }
    }
    return try await context.consult { service, handle throws(VaultError) in
      try await service.allItems(search, Asking(in: handle))
    }
  }

  /// Releases the secrets of all items, in the order of `ids`, for one touch or one passcode; or throws and releases
  /// none.
  ///
  /// A context does not ask again for what the person has shown in it before, and keeps what is shown now for later
  /// calls. Without a context the default prompt asks for this call alone.
  ///
  /// - Throws: `itemGone` where an item no longer exists, `itemInvalidated` where its set or passcode is gone, and
  ///   every error of an authentication.
  public func secrets(of ids: [ItemID], reason: String? = nil, using context: AuthenticationContext? = nil)
    async throws(VaultError) -> [ReleasedItem]
  {
    try await secrets(.ids(ids), reason: reason, using: context)
  }

  /// The same for the items that a search finds, oldest first; an empty array where it finds none.
  package func secrets(_ search: ItemSearch, reason: String?, using context: AuthenticationContext?)
    async throws(VaultError) -> [ReleasedItem]
  {
    try await secrets(
      .search(search.forReading), reason: reason, using: context, mayAsk: search.interaction == .allow)
  }

  /// Releases the secrets of the generic passwords of these names in an access group, in this order. Leaves out those that
  /// are not there or cannot be opened without asking. Asks for nothing.
  package func openSecrets(named names: [ItemName], inGroup group: String) async throws(VaultError) -> [ReleasedItem] {
    try await link.call { service throws(VaultError) in
      try await service.secrets(.open(names, group: group), Asking.nobody.onBehalf)
    }
  }

  private func secrets(
    _ selection: ItemSelection, reason: String?, using context: AuthenticationContext?, mayAsk: Bool = true
  ) async throws(VaultError) -> [ReleasedItem] {
    try await asking(context, reason, mayAsk: mayAsk) { service, asking throws(VaultError) in
      try await service.secrets(selection, asking)
    }
  }

  /// Changes all of the items or none; `secret` replaces the secret of each. A protected item asks for the same as
  /// reading it does.
  public func update(
    _ ids: [ItemID], _ change: ItemChange, secret: consuming SecretBytes? = nil, reason: String? = nil,
    using context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let shared: SharedSecret? = if let secret { SharedSecret(secret) } else { nil }
    _ = try await update(.ids(ids), change, secret: shared, reason: reason, using: context)
  }

  /// The same for the items that a search finds.
  ///
  /// - Throws: `itemGone` where there are none.
  package func update(
    _ search: ItemSearch, _ change: ItemChange, secret: SharedSecret? = nil, reason: String? = nil,
    using context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let count = try await update(
      .search(search.forChanging), change, secret: secret, reason: reason, using: context)
    guard count > 0 else { throw .itemGone }
  }

  private func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: SharedSecret?, reason: String?,
    using context: AuthenticationContext?
  ) async throws(VaultError) -> Int {
    let change = change.keepingGroup
    return try await asking(context, reason) { service, asking throws(VaultError) in
      try await service.update(selection, change, secret: secret?.copy(), asking)
    }
  }

  /// Removes all of the items or none, ignoring those that are gone already. Asks for nothing.
  public func delete(_ ids: [ItemID]) async throws(VaultError) {
    try await link.call { service throws(VaultError) in _ = try await service.delete(.ids(ids)) }
  }

  /// Removes all of the items that a search finds or none, and returns their number. A search that names no group finds
  /// the program's own items alone. Asks for nothing.
  ///
  /// - Throws: `itemGone` where there are none, `invalidRequest` for a search without a class, ids or an attribute.
  @discardableResult
  public func delete(_ search: ItemSearch) async throws(VaultError) -> Int {
    let search = search.forChanging
    return try await link.call { service throws(VaultError) in try await service.delete(.search(search)) }
  }

  /// Makes a private key in the vault, which it never leaves. Its item is in the program's own access group if it names
  /// none. Asks for nothing.
  package func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item {
    let item = item.inOwnGroup
    return try await link.call { service throws(VaultError) in try await service.addKey(item, from: source) }
  }

  /// Uses a private key inside the vault, which it does not leave, after asking for what its access control requires.
  package func useKey(
    _ id: ItemID, _ use: KeyUse, reason: String? = nil, using context: AuthenticationContext? = nil
  ) async throws(VaultError) -> SecretBytes {
    try await asking(context, reason) { service, asking throws(VaultError) in
      try await service.useKey(id, use, asking)
    }
  }

  /// Why no finger can be asked for now: `notEnrolled`, `biometryLockout`, or an error of the reader. Nil where one can
  /// be.
  public func biometryProblem() async -> VaultError? {
    do throws(VaultError) {
      return try await biometry().problem
    } catch {
      return error
    }
  }

  /// Whether the store has a passcode.
  public func passcodeIsSet() async throws(VaultError) -> Bool {
    try await link.call { service throws(VaultError) in try await service.status().passcodeSet }
  }

  /// The counterpart of `evaluatedPolicyDomainState`: 32 bytes that change for good when a finger is added, removed or
  /// replaced. Nil where no finger is enrolled.
  public func enrolmentState() async throws(VaultError) -> [UInt8]? { try await biometry().state }

  /// The state of fingers and passcode. Asks nobody.
  package func biometry() async throws(VaultError) -> Biometry {
    try await link.call { service throws(VaultError) in try await service.biometry() }
  }

  /// Runs a call in the given context. Without a context, asks for this call alone, and only if it needs a person and
  /// `mayAsk` allows that.
  func asking<Value: ~Copyable>(
    _ context: AuthenticationContext?, _ reason: String?, mayAsk: Bool = true,
    _ call: AskingRequest<Value, VaultError>
  ) async throws(VaultError) -> Value {
    if let context { return try await context.perform(reason, call) }
    var inquiry = Inquiry(reason)
    inquiry.mayAsk = mayAsk
    return try await ask(inquiry, call)
  }
}

extension SecretStore {
  /// The passkeys for a relying party, or with nil all of them; the newest first. Asks for nothing.
  package func passkeys(for relyingParty: String? = nil) async throws(VaultError) -> [Passkey] {
    let attributes: [AttributeName: AttributeValue] = relyingParty.map { [.relyingParty: .text($0)] } ?? [:]
    let found = try await items(ItemSearch(.passkey, attributes, groups: .all, synchronizable: .any))
    return found.compactMap { Passkey($0) }.reversed()
  }
}
