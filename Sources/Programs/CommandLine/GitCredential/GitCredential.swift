import ArgumentParser
import CommandBase
import Glibc
internal import Moving
import Primitives
import SecretModel
import Settings
import Whorl

struct GitCredential: Command {
  static let configuration = CommandConfiguration(
    commandName: "git-credential",
    abstract: "Give git its passwords, store and forget them.",
    discussion: """
      git runs this command as a credential helper:

        git config --global credential.helper '!type whorl >/dev/null 2>&1 && whorl git-credential'

      'whorl' in the place of the quoted words does the same, but git complains of it when Whorl is removed. git then asks Whorl before it asks you, and has Whorl store the password that you typed when the server has \
      accepted it. The passwords are internet passwords of the group 'whorl', which 'whorl ls --class internet-password' \
      lists. A new one needs a finger, or the passcode in its place; --access chooses something else, as in 'whorl set', \
      and a password that is stored again keeps its rule:

        git config --global credential.helper '!type whorl >/dev/null 2>&1 && whorl git-credential --access none'

      ACTION is get, store or erase, and every other is ignored, as git asks of its helpers. A password that the server \
      has refused is forgotten; if git (before 2.46) does not say where it had the password from, reading it to compare \
      may need a touch, and without that it stays.

      Without a terminal, as under a graphical client of git, a notification of the desktop asks for the finger, and \
      pinentry for the passcode.

      Example:
        printf 'protocol=https\\nhost=example.com\\n' | whorl git-credential get
      """)

  @OptionGroup var options: GlobalOptions

  @Option(help: "What releases a password that is stored for the first time.")
  var access: AccessControl.Constraint?

  @Flag(help: "Ask nobody: what needs a finger or a passcode is refused.")
  var noPrompt = false

  @Argument(help: ArgumentHelp("What git wants.", valueName: "action"))
  var action: String

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    switch action {
    case "get": try await get(session)
    case "store": try await store(session)
    case "erase": try await erase(session)
    default: break
    }
  }

  // MARK: get

  private func get(_ session: Session) async throws(Failure) {
    let request = try Self.request()
    guard let place = try GitPlace(request) else { return }
    let items = try await place.items(session)
    // A line feed in an account would end its line and begin another field, such as the host.
    guard let item = items.first(where: { !Self.hasUnfitAccount($0) }) else { return }
    let released = try await session.secret(
      of: item, reason: "git: sign in to \(place.description)", noPrompt: noPrompt)
    var answer = SecretBytes(count: 0)
    let announced = request.all("capability[]")
    let capabilities = ["authtype", "state"].filter { announced.contains($0) }
    for capability in capabilities { answer.append("capability[]=\(capability)\n") }
    if case .text(let account) = item.attributes[.account] { answer.append("username=\(account)\n") }
    try GitSecret(released.secret.copy()).write(to: &answer, authenticationTypes: capabilities.contains("authtype"))
    if capabilities.contains("state") { answer.append("state[]=\(Self.state(of: item))\n") }
    try answer.writeAnswer()
  }

  private static func hasUnfitAccount(_ item: Item) -> Bool {
    if case .text(let account)? = item.attributes[.account] { account.hasControlCharacters } else { false }
  }

  // MARK: store

  /// Whether git asks helpers not to store the credential, because it is valid for one use only.
  private static func isEphemeral(_ request: GitFields) throws(Failure) -> Bool {
    guard let value = try request.text("ephemeral") else { return false }
    return !["", "0", "false", "no", "off"].contains(value.lowercased())
  }

  private func store(_ session: Session) async throws(Failure) {
    let request = try Self.request()
    // Do not store a credential that git got from here.
    guard let place = try GitPlace(request), Self.state(in: request) == nil, try !Self.isEphemeral(request),
      let secret = GitSecret(storing: request)
    else { return }
    let there = try await place.exactItem(session)
    if let there, let known = try? await session.request({ try await $0.secrets(.ids([there.id]), .nobody) }).first,
      GitSecret(known.secret.copy()).equals(secret)
    {
      return
    }
    let item = NewItem(
      .internetPassword, there.map { $0.attributes.merging(place.attributes) { $1 } } ?? place.attributes,
      access: there?.access ?? AccessControl(access ?? session.configuration.access ?? .presence),
      accessibility: there?.accessibility ?? .whenUnlocked)
    try await session.storing(item, session.answers(noPrompt: noPrompt)) {
      _ = try await $0.add(item, secret: secret.copy(), replacing: true, $1)
    }
  }

  // MARK: erase

  private func erase(_ session: Session) async throws(Failure) {
    let request = try Self.request()
    guard let place = try GitPlace(request) else { return }
    let items = try await place.items(session)
    var erased: [ItemID] = []
    for item in items where try await isMeant(item, request, place, session) { erased.append(item.id) }
    guard !erased.isEmpty else { return }
    let gone = erased
    func delete() async throws(Failure) { _ = try await session.request { try await $0.delete(.ids(gone)) } }
    do throws(Failure) {
      try await delete()
    } catch {
      switch error.cause {
      case .serviceUnavailable?, .serviceStopped?:
        // The vault ended during the prompt, and nothing was deleted.
        await session.close()
        try await delete()
      default: throw error
      }
    }
  }

  /// Whether git wants this item erased. If the request has a password, only an item with that password, since the
  /// refused one may have been typed or come from another helper.
  private func isMeant(
    _ item: Item, _ request: GitFields, _ place: GitPlace, _ session: Session
  ) async throws(Failure) -> Bool {
    if let state = Self.state(in: request) { return state == Self.state(of: item) }
    guard let refused = request.secret("password") else { return true }
    let known = try await session.secret(
      of: item, reason: "git: compare the password that \(place.description) has refused",
      noPrompt: noPrompt)
    return GitSecret(known.secret.copy()).hasPassword(refused)
  }

  // MARK: Input

  /// The longest request, in bytes. git itself sets no limit; the secret in a request has one.
  private static let limit = NewItem.secretLimit + 65_536

  private static func request() throws(Failure) -> GitFields {
    let bytes: SharedSecret
    do throws(ReadError) {
      bytes = SharedSecret(try SecretBytes.read(from: STDIN_FILENO, limit: limit))
    } catch {
      switch error {
      case .tooLong(let limit): throw Failure(.secretTooLong(limit: limit))
      case .endOfInput: throw .cannotRead("git's request from standard input", EIO)
      case .system(let code): throw .cannotRead("git's request from standard input", code)
      }
    }
    return try GitFields(bytes)
  }

  /// The state that git returns with a password from here: the item's id and modification time.
  private static func state(of item: Item) -> String {
    "\(statePrefix)\(Hexadecimal.text(of: item.id.bytes)).\(Int64(clamping: item.modified * 1_000))"
  }

  private static func state(in request: GitFields) -> String? {
    request.all("state[]").first { $0.hasPrefix(statePrefix) }
  }

  /// git passes the states of all helpers to each, so each has a prefix.
  private static let statePrefix = "whorl:"
}
