internal import Primitives
internal import Prompts
internal import SecretModel
internal import SessionPrompts
internal import Whorl

/// What one browser gets from the store, and how the person is asked for it.
struct LoginDesk: Sendable {
  /// What a touch is kept for: the same logins for the same page, by the same connection of the same browser.
  struct Purpose: Hashable, Sendable {
    var page: SiteAddress
    var items: [ItemID]
  }

  /// A login that a page may have.
  struct Found: Sendable {
    let login: SavedLogin
    /// The item with the seed of its one-time codes.
    let seed: ItemID?
  }

  /// How long a touch counts for the same logins of the same page: some sites ask for the user and for the password on
  /// pages of their own.
  static let keptTime = Duration.seconds(30)

  let store: SecretStore
  let program: ClientProgram
  let turns: PromptTurns
  let touches: KeptTouches<Purpose>
  let prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
  let log: @Sendable (String) -> Void

  // MARK: The store

  /// Whether the items can be read now.
  func isOpen() async throws(VaultError) -> Bool { try await store.isUnlocked() }

  /// Has the person open a store that needs the passcode first.
  func unlock() async throws(VaultError) {
    try await inTurn { () async throws(VaultError) in _ = try await inquiry("look for logins").unlockIfWaiting(store) }
  }

  func lock() async throws(VaultError) {
    touches.forget()
    try await store.call { vault throws(VaultError) in try await vault.lock() }
  }

  // MARK: Logins

  /// The logins that a page may have: as many as a prompt can name. Those of the very host come first, then the longest
  /// names, then those that were changed last.
  func logins(for page: SiteAddress) async throws(VaultError) -> [Found] {
    func items(_ itemClass: ItemClass) async throws(VaultError) -> [Item] {
      try await store.items(
        ItemSearch(itemClass, groups: .named([AccessGroup.commandLine]), synchronizable: .any))
    }
    let passwords = try await items(.genericPassword)
    let found = (try await items(.internetPassword) + passwords).compactMap { SavedLogin($0, for: page) }
      .sorted { left, right in
        left.site.host.utf8.count == right.site.host.utf8.count
          ? left.item.modified > right.item.modified : left.site.host.utf8.count > right.site.host.utf8.count
      }
    guard !found.isEmpty else { return [] }
    var seeds: [String: ItemID] = [:]
    for item in passwords {
      guard let name = item.name?.description, name.hasSuffix(OneTimeCode.itemMark), seeds[name] == nil else {
        continue
      }
      seeds[name] = item.id
    }
    return found.prefix(PromptLabel.most).map { Found(login: $0, seed: seeds[$0.nameOfSeed]) }
  }

  /// The secrets of logins, after one touch or passcode for all of them.
  func secrets(of logins: [SavedLogin], for page: SiteAddress) async throws(VaultError) -> [ReleasedItem] {
    let ids = logins.map(\.item.id)
    let purpose = Purpose(page: page, items: ids)
    let read: AskingRequest<[ReleasedItem], VaultError> = { vault, asking throws(VaultError) in
      try await vault.secrets(.ids(ids), asking)
    }
    nonisolated(nonsending) func early() async throws(VaultError) -> [ReleasedItem]? {
      try await touches.reuse(purpose) { context throws(VaultError) in try await context.perform(nil, read) }
    }
    if let earlier = try await early() { return earlier }
    if let free = try await Inquiry.withoutAsking(in: store, read) { return free }
    let accounts = PromptLabel.names(logins.map(\.account), unnamed: "a login without a user")
    return try await inTurn { () async throws(VaultError) in
      // Another request of this page may have been answered by a touch meanwhile.
      if let earlier = try await early() { return earlier }
      return try await inquiry("give \(accounts) to \(Self.words(for: page))").ask(
        in: store, keep: { touches.keep($0, for: purpose, lasting: Self.keptTime) }, read)
    }
  }

  /// The code of this moment.
  func code(of seed: ItemID, _ login: SavedLogin, for page: SiteAddress) async throws(VaultError) -> OneTimeCode {
    let make: AskingRequest<OneTimeCode?, VaultError> = { vault, asking throws(VaultError) in
      OneTimeCode(answer: try await vault.useKey(seed, .oneTimeCode, asking))
    }
    var code = try await Inquiry.withoutAsking(in: store, make) ?? nil
    if code == nil {
      let account = PromptLabel.names([login.account], unnamed: "a login without a user")
      code = try await inTurn { () async throws(VaultError) in
        try await inquiry("give the one-time code of \(account) to \(Self.words(for: page))").ask(in: store, make)
      }
    }
    guard let code else { throw .invalidRequest("it holds no seed of one-time codes") }
    return code
  }

  /// Stores a new login. Asks nobody, as no new item does.
  func add(_ account: String, _ password: SharedSecret, of page: SiteAddress, _ access: AccessControl)
    async throws(VaultError)
  {
    let item = NewItem(.internetPassword, SavedLogin.attributes(of: page, account: account), access: access)
    try await store.add(item, secret: password.copy())
  }

  /// Replaces the password of a login, after what its rule requires.
  func change(_ login: SavedLogin, to password: SharedSecret, by page: SiteAddress) async throws(VaultError) {
    let account = PromptLabel.names([login.account], unnamed: "a login without a user")
    let ids = [login.item.id]
    let change: AskingRequest<Int, VaultError> = { vault, asking throws(VaultError) in
      try await vault.update(.ids(ids), ItemChange(), secret: password.copy(), asking)
    }
    _ = try await inTurn { () async throws(VaultError) in
      try await inquiry("replace the password of \(account) for \(Self.words(for: page))").ask(in: store, change)
    }
  }

  // MARK: Associations

  /// Has the person connect the browser, under a new name.
  func associate(key: String) async throws(VaultError) -> String {
    guard try await Association.all(in: store).count < Association.most else {
      throw .busy("\(Association.most) browsers are connected, and no more can be")
    }
    _ = try await inTurn { () async throws(VaultError) in
      try await inquiry("be connected with your store, to ask you for the logins of sites").ask(in: store) {
        vault, asking throws(VaultError) in
        try await vault.evaluate(.access(AccessControl(.presence)), asking)
      }
    }
    let id = "\(shortName)-\(Hexadecimal.text(of: MessageBox.random(4)))"
    try await Association.add(id, key: key, program: program.words, to: store)
    return id
  }

  /// The name of the browser's file, in letters that need no care.
  private var shortName: String {
    let name = (program.path?.split(separator: "/").last ?? "").lowercased().filter {
      $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
    }
    return name.isEmpty ? "browser" : String(name.prefix(32))
  }

  // MARK: Asking

  /// The page for a prompt. Whoever is on the way reads what is filled in on an unencrypted one.
  private static func words(for page: SiteAddress) -> String {
    let shown = PromptLabel.text(page.text)
    return page.scheme == .https ? shown : "\(shown), which is NOT ENCRYPTED: others on the network can read it"
  }

  private func inquiry(_ reason: String) -> Inquiry {
    var inquiry = Inquiry(reason, prompt: prompt(program))
    inquiry.options.offersFallbackAtOnce = true
    inquiry.repeatsWhereVaultEnds = true
    inquiry.triesSilently = false
    return inquiry
  }

  private func inTurn<Value: Sendable>(_ body: () async throws(VaultError) -> Value) async throws(VaultError) -> Value {
    guard let value = try await turns.run(for: program.program, body) else { throw .cancelled }
    return value
  }
}
