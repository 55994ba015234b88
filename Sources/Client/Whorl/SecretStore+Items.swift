public import Primitives
public import SecretModel

/// The requests of programs about their items.
extension SecretStore {
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

  /// One page of the items of the Secret Service with all of these attributes. Asks for nothing.
  package func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?)
    async throws(VaultError) -> FoundSecrets
  {
    try await link.call { service throws(VaultError) in
      try await service.found(attributes, in: collection, after: after)
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

  /// Asks in a context for what reading the items requires, and releases nothing. Later calls of the context then ask
  /// for nothing.
  package func authorize(_ ids: [ItemID], reason: String, using context: AuthenticationContext) async throws(VaultError)
  {
    try await context.perform(reason) { service, asking throws(VaultError) in
      try await service.authorize(ids, asking)
    }
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
    return try await inquiry.ask(in: self, call)
  }

  /// The passkeys for a relying party, or with nil all of them; the newest first. Asks for nothing.
  package func passkeys(for relyingParty: String? = nil) async throws(VaultError) -> [Passkey] {
    let attributes: [AttributeName: AttributeValue] = relyingParty.map { [.relyingParty: .text($0)] } ?? [:]
    let found = try await items(ItemSearch(.passkey, attributes, groups: .all, synchronizable: .any))
    return found.compactMap { Passkey($0) }.reversed()
  }
}
