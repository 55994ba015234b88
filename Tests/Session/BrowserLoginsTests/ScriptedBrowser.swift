import BrowserLogins
import CSodium
import Foundation
import Glibc
import Moving
import Primitives
import ProgramDriver
import SecretModel
import SessionPrompts
import Synchronization
import Whorl
import WhorlTesting

/// A store with a person, and what its prompts have said.
final class Desk: Sendable {
  let temporary: TemporaryStore
  let prompts = Mutex<[String]>([])

  var store: SecretStore { temporary.store }
  var person: SyntheticPerson { temporary.person }

  init() async throws {
    let whorld = try Programs.path("whorld")
    temporary = try await TemporaryStore(
      enrolled: [.rightIndex], programs: String(whorld.dropLast("/whorld".count)))
  }

  static func with(_ body: (Desk) async throws -> Void) async throws {
    let desk = try await Desk()
    defer { desk.temporary.remove() }
    try await body(desk)
  }

  /// What the person was asked since the last time.
  func asked() -> [String] {
    prompts.withLock { prompts in
      defer { prompts = [] }
      return prompts
    }
  }

  /// Waits until the person is asked something; fails after half a minute.
  func waitForPrompt() async throws {
    for _ in 0..<6_000 {
      guard prompts.withLock({ $0.isEmpty }) else { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw ScriptedBrowser.Unexpected(what: "no prompt")
  }

  /// Stores a login as an import does.
  func imported(_ name: String, _ secret: String, of address: String, access: AccessControl.Constraint = .anyFinger)
    async throws
  {
    var item = NewItem(named: try ItemName(parsing: name), access: AccessControl(access))
    item.attributes[.url] = .text(address)
    item.attributes[.label] = .text(name)
    try await store.add(item, secret: SecretBytes(copying: Array(secret.utf8).span))
  }

  /// Stores a login as a browser does.
  func login(_ account: String, _ secret: String, at server: String, access: AccessControl.Constraint = .anyFinger)
    async throws
  {
    let item = NewItem(
      .internetPassword,
      [
        .server: .text(server), .networkProtocol: .text("htps"), .authenticationType: .text("form"),
        .port: .number(443), .account: .text(account), .accessGroup: .text(AccessGroup.commandLine),
      ], access: AccessControl(access))
    try await store.add(item, secret: SecretBytes(copying: Array(secret.utf8).span))
  }
}

/// Tells a desk what the person is asked.
private final class Told: AuthenticationPrompt {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted, .secretWanted(.passcode): desk.prompts.withLock { $0.append(session.reason ?? "") }
    default: break
    }
    await desk.person.handle(event, in: session)
  }
}

/// A browser with the extension, which does its own encryption.
final class ScriptedBrowser {
  struct Unexpected: Error {
    var what: String
  }

  private let toHost: Int32
  private let fromHost: Int32
  private let host: Task<Void, Never>
  private(set) var publicKey = [UInt8](repeating: 0, count: 32)
  private var privateKey = [UInt8](repeating: 0, count: 32)
  private var hostKey: [UInt8] = []
  var clientID = "client"
  var id = ""
  var idKey = ""

  init(_ desk: Desk, opening open: (@Sendable () throws(VaultError) -> SecretStore)? = nil) {
    let (input, output) = (Self.pipe(), Self.pipe())
    (toHost, fromHost) = (input.write, output.read)
    let program = ClientProgram(getpid(), path: "/usr/lib/firefox-esr/firefox-esr", arguments: ["firefox-esr"])
    // Not by ??, whose closure the compiler converts to one that crashes.
    var openStore: @Sendable () throws(VaultError) -> SecretStore = { () throws(VaultError) in desk.store }
    if let open { openStore = open }
    let configuration = BrowserHost.Configuration(
      bus: "unix:path=/nonexistent", program: program, identity: "test", access: AccessControl(.anyFinger),
      openStore: openStore, prompt: { _ in Told(desk) }, log: { _ in })
    host = Task(executorPreference: BackgroundThread()) {
      await BrowserHost(configuration, writingTo: output.write).serve(readingFrom: input.read)
      close(input.read)
      close(output.write)
    }
  }

  /// Closes the connection, and waits for the host's end.
  func end() async {
    close(toHost)
    await host.value
    close(fromHost)
  }

  static func with(_ desk: Desk, _ body: (ScriptedBrowser) async throws -> Void) async throws {
    let browser = ScriptedBrowser(desk)
    do { try await body(browser) } catch {
      await browser.end()
      throw error
    }
    await browser.end()
  }

  /// The same with a store that its person has to open first.
  static func withClosedStore(_ desk: Desk, _ body: (ScriptedBrowser) async throws -> Void) async throws {
    let browser = ScriptedBrowser(desk) { () throws(VaultError) in desk.temporary.reopened() }
    do {
      try await browser.exchange()
      try await body(browser)
    } catch {
      await browser.end()
      throw error
    }
    await browser.end()
  }

  private static func pipe() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    Glibc.pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  // MARK: Messages

  func send(_ bytes: [UInt8]) {
    let length = withUnsafeBytes(of: UInt32(bytes.count)) { Array($0) }
    sendRaw(length + bytes)
  }

  func sendRaw(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Glibc.write(toHost, $0.baseAddress, $0.count) }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  func send(_ message: [String: Any]) throws { send(Array(try JSONSerialization.data(withJSONObject: message))) }

  /// The next answer; nil at the end.
  func receive() async throws -> [String: Any]? {
    let descriptor = fromHost
    let bytes: [UInt8]? = await BlockingCall.run { () -> [UInt8]? in
      guard let head = Self.read(4, descriptor) else { return nil }
      return Self.read(head.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }, descriptor)
    }
    guard let bytes else { return nil }
    return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
  }

  private static func read(_ count: Int, _ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let received = bytes.withUnsafeMutableBytes { bytes in
        Glibc.read(descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]).baseAddress, count - filled)
      }
      guard received > 0 else { return nil }
      filled += received
    }
    return bytes
  }

  // MARK: The protocol

  static func nonce() -> [UInt8] { (0..<24).map { _ in UInt8.random(in: 0...255) } }

  static func next(_ nonce: [UInt8]) -> [UInt8] {
    var carry = 1
    return nonce.map { byte in
      carry += Int(byte)
      defer { carry >>= 8 }
      return UInt8(carry & 255)
    }
  }

  /// Exchanges keys.
  func exchange() async throws {
    crypto_box_keypair(&publicKey, &privateKey)
    let nonce = Self.nonce()
    try send([
      "action": "change-public-keys", "publicKey": Data(publicKey).base64EncodedString(),
      "nonce": Data(nonce).base64EncodedString(), "clientID": clientID,
    ])
    guard let answer = try await receive(), answer["success"] as? String == "true",
      answer["nonce"] as? String == Data(Self.next(nonce)).base64EncodedString(),
      let key = (answer["publicKey"] as? String).flatMap({ Data(base64Encoded: $0) })
    else { throw Unexpected(what: "no keys") }
    hostKey = Array(key)
  }

  /// A sealed message.
  func sealed(_ message: [String: Any], nonce: [UInt8] = nonce()) throws -> [String: Any] {
    let text = Array(try JSONSerialization.data(withJSONObject: message))
    var box = [UInt8](repeating: 0, count: text.count + Int(crypto_box_macbytes()))
    guard crypto_box_easy(&box, text, UInt64(text.count), nonce, hostKey, privateKey) == 0 else {
      throw Unexpected(what: "not sealed")
    }
    return [
      "action": message["action"] ?? "", "message": Data(box).base64EncodedString(),
      "nonce": Data(nonce).base64EncodedString(), "clientID": clientID,
    ]
  }

  /// The message in an answer, or the answer itself if it is an error.
  func opened(_ answer: [String: Any]) throws -> [String: Any] {
    guard let text = answer["message"] as? String else { return answer }
    guard let box = Data(base64Encoded: text).map(Array.init),
      let nonce = (answer["nonce"] as? String).flatMap({ Data(base64Encoded: $0) }).map(Array.init)
    else { throw Unexpected(what: "no base64") }
    var message = [UInt8](repeating: 0, count: box.count - Int(crypto_box_macbytes()))
    guard crypto_box_open_easy(&message, box, UInt64(box.count), nonce, hostKey, privateKey) == 0,
      let read = try JSONSerialization.jsonObject(with: Data(message)) as? [String: Any],
      read["nonce"] as? String == Data(nonce).base64EncodedString()
    else { throw Unexpected(what: "not opened") }
    return read
  }

  /// Makes a request, and checks that the answer has its nonce.
  func ask(_ message: [String: Any]) async throws -> [String: Any] {
    let nonce = Self.nonce()
    try send(try sealed(message, nonce: nonce))
    guard let answer = try await receive() else { throw Unexpected(what: "the host has ended") }
    if let given = answer["nonce"] as? String, given != Data(Self.next(nonce)).base64EncodedString() {
      throw Unexpected(what: "another nonce")
    }
    return try opened(answer)
  }

  /// Asks for the store to be opened by the person.
  ///
  /// - Returns: the number of the error in the answer.
  func askToOpen() async throws -> String? {
    var request = try sealed(["action": "get-databasehash"])
    request["triggerUnlock"] = "true"
    try send(request)
    return try await receive()?["errorCode"] as? String
  }

  func associate() async throws -> [String: Any] {
    idKey = Data(Self.nonce() + [1, 2, 3, 4, 5, 6, 7, 8]).base64EncodedString()
    let answer = try await ask([
      "action": "associate", "key": Data(publicKey).base64EncodedString(), "idKey": idKey,
    ])
    id = answer["id"] as? String ?? ""
    return answer
  }

  func testAssociate() async throws -> [String: Any] {
    try await ask(["action": "test-associate", "id": id, "key": idKey])
  }

  /// Exchanges keys, and is connected by the person.
  func connect() async throws {
    try await exchange()
    guard try await associate()["success"] as? String == "true" else { throw Unexpected(what: "not connected") }
  }

  func logins(_ url: String, form: String? = nil) async throws -> [String: Any] {
    var message: [String: Any] = ["action": "get-logins", "url": url, "id": id, "keys": [["id": id, "key": idKey]]]
    message["submitUrl"] = form
    return try await ask(message)
  }

  /// The users and passwords for a page; an error's number in their place.
  func passwords(_ url: String, form: String? = nil) async throws -> [String] {
    let answer = try await logins(url, form: form)
    if let code = answer["errorCode"] as? String { return ["error \(code)"] }
    let entries = answer["entries"] as? [[String: Any]] ?? []
    return entries.map { "\($0["login"] ?? "")=\($0["password"] ?? "")" }
  }
}
