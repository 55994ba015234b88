internal import Moving
internal import Primitives
internal import Prompts
internal import SecretModel
internal import SessionPrompts
internal import Synchronization

/// One browser, for as long as it has one key: what it may ask for, and the answers.
final class BrowserClient: Sendable {
  /// A login that the browser has got, whose one-time code it may ask for.
  private struct Given: Sendable {
    let login: SavedLogin
    let seed: ItemID
    let page: SiteAddress
  }

  private struct State {
    /// The name and the key under which the browser is connected.
    var association: (id: String, key: String)?
    var given: [String: Given] = [:]
  }

  /// The most logins whose one-time codes may be asked for.
  private static let mostGiven = 256
  /// The longest name of a user, in bytes.
  private static let longestAccount = 1_024
  /// Stands for a code that is asked for with `get-totp`: the extension looks only whether there is one.
  private static let codeOnRequest = "-"

  /// The public key of the connection.
  private let key: [UInt8]
  /// Distinguishes the store from others.
  private let identity: String
  /// The rule of new logins.
  private let access: AccessControl
  private let findDesk: @Sendable () throws(VaultError) -> LoginDesk
  private let state = Mutex(State())

  init(
    key: [UInt8], identity: String, access: AccessControl,
    desk: @escaping @Sendable () throws(VaultError) -> LoginDesk
  ) {
    (self.key, self.identity, self.access, findDesk) = (key, identity, access, desk)
  }

  /// Has the person open a closed store.
  ///
  /// - Returns: whether they have.
  func unlock() async -> Bool {
    do throws(VaultError) {
      let desk = try findDesk()
      guard try await !desk.isOpen() else { return false }
      try await desk.unlock()
      return try await desk.isOpen()
    } catch {
      return false
    }
  }

  /// Answers a request.
  func answer(_ action: BrowserAction, _ request: BrowserRequest, into reply: inout BrowserReply)
    async throws(BrowserError)
  {
    switch action {
    // The protocol's refusals of what Whorl does not do, which need no store.
    case .passkeysGet, .passkeysRegister: throw .noAttestation
    case .autotype, .deleteEntry: throw .unknownAction
    case .newGroup: throw .noNewGroup
    case .allEntries: throw .noList
    default: break
    }
    let desk = try await vault { () async throws(VaultError) in try findDesk() }
    guard try await vault({ () async throws(VaultError) in try await desk.isOpen() }) else { throw .closed }
    switch action {
    case .databaseHash: reply.add("hash", hash)
    case .associate: try await associate(request, at: desk, into: &reply)
    case .testAssociate: try await testAssociation(request, at: desk, into: &reply)
    case .generatePassword: reply.add("password", PasswordGenerator().password())
    case .lock:
      try await vault { () async throws(VaultError) in try await desk.lock() }
      // The protocol's answer after it was locked.
      throw .closed
    case .groups:
      try await requireAssociation(at: desk)
      reply.add("groups", json: Self.groups)
    case .logins: try await giveLogins(request, at: desk, into: &reply)
    case .setLogin: try await keepLogin(request, at: desk, into: &reply)
    case .oneTimeCode: try await giveCode(request, at: desk, into: &reply)
    default: throw .unknownAction
    }
  }

  private var hash: String { Hexadecimal.text(of: MessageBox.digest("Whorl \(identity)")) }

  /// The one place for logins. The extension shows it beside each.
  private static let group = "Whorl"

  private static var groups: SecretBytes {
    var text = SecretBytes(count: 0)
    text.append(#"[{"name":"\#(group)","uuid":"\#(String(repeating: "0", count: 32))","children":[]}]"#)
    return text
  }

  /// Makes requests to the store, and throws what the extension knows of their errors.
  private func vault<Value>(_ requests: () async throws(VaultError) -> Value) async throws(BrowserError) -> Value {
    do throws(VaultError) {
      return try await requests()
    } catch {
      switch error {
      case .notUnlocked, .storeNotFound, .serviceUnavailable: throw .closed
      default: throw .refused
      }
    }
  }

  // MARK: Associations

  private func associate(_ request: BrowserRequest, at desk: LoginDesk, into reply: inout BrowserReply)
    async throws(BrowserError)
  {
    // Extensions before 1.4 have no key for this.
    guard request.key.flatMap({ Base64URL.bytes(of: $0) }) == key, let idKey = request.idKey ?? request.key,
      Base64URL.bytes(of: idKey)?.count == MessageBox.keySize
    else { throw .notAssociated }
    let id = try await vault { () async throws(VaultError) in try await desk.associate(key: idKey) }
    state.withLock { $0.association = (id, idKey) }
    reply.add("hash", hash)
    reply.add("id", id)
  }

  private func testAssociation(_ request: BrowserRequest, at desk: LoginDesk, into reply: inout BrowserReply)
    async throws(BrowserError)
  {
    guard let id = request.id, let idKey = request.key, !id.isEmpty, !idKey.isEmpty else { throw .notAssociated }
    let isKnown = try await vault { () async throws(VaultError) in
      try await Association.holds(id, idKey, in: desk.store)
    }
    guard isKnown else { throw .notAssociated }
    state.withLock { $0.association = (id, idKey) }
    reply.add("hash", hash)
    reply.add("id", id)
  }

  /// Refuses a browser that is not connected, or not any more.
  private func requireAssociation(at desk: LoginDesk) async throws(BrowserError) {
    guard let (id, idKey) = state.withLock({ $0.association }) else { throw .notAssociated }
    let isKnown = try await vault { () async throws(VaultError) in
      try await Association.holds(id, idKey, in: desk.store)
    }
    guard isKnown else {
      state.withLock { $0.association = nil }
      throw .notAssociated
    }
  }

  // MARK: Logins

  /// The page that a request is about.
  private func page(_ request: BrowserRequest) throws(BrowserError) -> SiteAddress {
    guard let page = request.url.flatMap({ SiteAddress(page: $0) }) else { throw .noAddress }
    return page
  }

  /// Whether a form may have what is given to its page. A form that a script sends has no address to send to.
  private func allows(target: String?, of page: SiteAddress) -> Bool {
    guard let target, !target.isEmpty else { return true }
    if let address = SiteAddress(page: target) { return page.maySend(to: address) }
    let scheme = target.prefix { $0 != ":" }.lowercased()
    return scheme == "javascript" || scheme == "about"
  }

  private func giveLogins(_ request: BrowserRequest, at desk: LoginDesk, into reply: inout BrowserReply)
    async throws(BrowserError)
  {
    try await requireAssociation(at: desk)
    let page = try page(request)
    guard allows(target: request.submitURL, of: page) else {
      desk.log("nothing for \(page.text): its form sends to another site")
      throw .noLogins
    }
    let found = try await vault { () async throws(VaultError) in try await desk.logins(for: page) }
    guard !found.isEmpty else { throw .noLogins }
    let released = try await vault { () async throws(VaultError) in
      try await desk.secrets(of: found.map(\.login), for: page)
    }
    var entries = SecretBytes(count: 0)
    var count = 0
    for (found, item) in zip(found, released) where item.secret.isUTF8 {
      entries.append(count == 0 ? #"[{"uuid":"# : #",{"uuid":"#)
      entries.append(json: found.login.uuid)
      entries.append(#","login":"#)
      entries.append(json: found.login.account)
      entries.append(#","name":"#)
      entries.append(json: found.login.title)
      entries.append(#","group":"\#(Self.group)""#)
      entries.append(#","password":"#)
      entries.append(json: item.secret)
      if let seed = found.seed {
        entries.append(#","totp":"\#(Self.codeOnRequest)""#)
        remember(Given(login: found.login, seed: seed, page: page))
      }
      entries.append("}")
      count += 1
    }
    guard count > 0 else { throw .noLogins }
    entries.append("]")
    desk.log("gave \(count) of \(page.text) to \(desk.program.words)")
    reply.add("count", "\(count)")
    reply.add("entries", json: entries)
    reply.add("hash", hash)
  }

  private func remember(_ given: Given) {
    state.withLock { state in
      if state.given.count >= Self.mostGiven { state.given = [:] }
      state.given[given.login.uuid] = given
    }
  }

  private func giveCode(_ request: BrowserRequest, at desk: LoginDesk, into reply: inout BrowserReply)
    async throws(BrowserError)
  {
    try await requireAssociation(at: desk)
    // Only for a login that this browser has got: the request names no page.
    guard let uuid = request.uuid, let given = state.withLock({ $0.given[uuid] }) else { throw .noEntry }
    let code = try await vault { () async throws(VaultError) in
      try await desk.code(of: given.seed, given.login, for: given.page)
    }
    reply.add("totp", code.digits.bytes)
  }

  private func keepLogin(_ request: BrowserRequest, at desk: LoginDesk, into reply: inout BrowserReply)
    async throws(BrowserError)
  {
    try await requireAssociation(at: desk)
    let page = try page(request)
    guard allows(target: request.submitURL, of: page), let password = request.password, !password.bytes.isEmpty,
      password.bytes.count <= NewItem.secretLimit
    else { throw .refused }
    let account = request.login ?? ""
    guard account.utf8.count <= Self.longestAccount, !account.hasControlCharacters else { throw .refused }
    let known = try await vault { () async throws(VaultError) in try await desk.logins(for: page) }.map(\.login)
    if let uuid = request.uuid, !uuid.isEmpty {
      guard let login = known.first(where: { $0.uuid == uuid }) else { throw .noEntry }
      try await vault { () async throws(VaultError) in try await desk.change(login, to: password, by: page) }
    } else if let login = known.first(where: { $0.account == account && $0.site.host == page.host }) {
      try await vault { () async throws(VaultError) in try await desk.change(login, to: password, by: page) }
    } else {
      let access = access
      try await vault { () async throws(VaultError) in try await desk.add(account, password, of: page, access) }
    }
    reply.add("error", "success")
    reply.add("hash", hash)
  }
}

extension SecretBytes {
  /// Checked in place, since the copy of a string would not be wiped.
  fileprivate var isUTF8: Bool {
    withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
    }
  }
}
