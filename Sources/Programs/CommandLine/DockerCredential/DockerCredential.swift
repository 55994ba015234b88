import ArgumentParser
import CommandBase
import Glibc
internal import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct DockerCredential: Command {
  static let configuration = CommandConfiguration(
    commandName: "docker-credential",
    abstract: "Give docker its credentials, store and forget them.",
    discussion: """
      docker, podman and other programs for containers run this command as a credential helper, with this in \
      ~/.docker/config.json:

        { "credsStore": "whorl" }

      'docker login' then stores the password or the token of a registry in Whorl. They are internet passwords of the \
      group 'whorl', which 'whorl ls --class internet-password' lists. A new one needs a finger, or the passcode in its \
      place, and one that is stored again keeps its rule.

      docker passes no options. For another rule, put a script like this on the PATH, named docker-credential-open, and \
      write "open" in the place of "whorl":

        #!/bin/sh
        exec whorl docker-credential --access none "$@"

      Some commands of docker, such as 'docker build', read the credentials of all registries: each item with a rule \
      then asks. "credHelpers" in the place of "credsStore" names the helper of each registry.

      ACTION is get, store, erase, list or version; list needs no finger. What docker has to know goes to standard output, as the \
      protocol of these helpers has it: for a registry without credentials "credentials not found in native keychain", \
      with the exit status 1.

      Example:
        echo c.test | whorl docker-credential get
      """)

  @OptionGroup var options: GlobalOptions

  @Option(help: "What releases a credential that is stored for the first time.")
  var access: AccessControl.Constraint?

  @Flag(help: "Ask nobody: what needs a finger or a passcode is refused.")
  var noPrompt = false

  @Argument(help: ArgumentHelp("What docker wants.", valueName: "action"))
  var action: Action

  enum Action: String, ExpressibleByArgument, CaseIterable {
    case get, store, erase, list, version
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    switch action {
    case .get: try await get(session)
    case .store: try await store(session)
    case .erase: try await erase(session)
    case .list: try await list(session)
    // docker runs it under this name.
    case .version: try StandardOutput.line("docker-credential-whorl \(Version.text)")
    }
  }

  // MARK: get

  private func get(_ session: Session) async throws(Failure) {
    let place = try Self.place()
    let items = try await place.items(session)
    guard let item = items.first else { throw try Self.answer(.notFound) }
    let released = try await session.secret(
      of: item, reason: "docker: sign in to \(PromptLabel.text(place.name))", noPrompt: noPrompt)
    var answer = SecretBytes(count: 0)
    answer.append(#"{"ServerURL":\#(try JSON.text(place.name)),"Username":\#(try JSON.text(Self.account(of: item)))"#)
    answer.append(#","Secret":"#)
    answer.append(json: released.secret)
    answer.append("}\n")
    try answer.writeAnswer()
  }

  // MARK: store

  private func store(_ session: Session) async throws(Failure) {
    let fields = try DockerFields(try Self.input())
    guard let name = try fields.text("ServerURL"), !name.isEmpty else { throw try Self.answer(.noServer) }
    guard let account = try fields.text("Username"), !account.isEmpty else { throw try Self.answer(.noAccount) }
    let secret = SharedSecret(fields.secret("Secret") ?? SecretBytes(count: 0))
    let place = DockerPlace(name)
    let there = try await place.items(session, [.living, .dead])
    let item = NewItem(
      .internetPassword, place.attributes(account: account),
      access: there.first?.access ?? AccessControl(access ?? session.configuration.access ?? .presence),
      accessibility: there.first?.accessibility ?? .whenUnlocked)
    try await session.storing(item, session.answers(noPrompt: noPrompt)) {
      _ = try await $0.add(item, secret: secret.copy(), replacing: true, $1)
    }
    // Keep one credential for each registry: remove those of other accounts.
    let others = there.filter { Self.account(of: $0) != account }.map(\.id)
    guard !others.isEmpty else { return }
    _ = try await session.request { try await $0.delete(.ids(others)) }
  }

  // MARK: erase

  private func erase(_ session: Session) async throws(Failure) {
    let place = try Self.place()
    let there = try await place.items(session, [.living, .dead]).map(\.id)
    guard !there.isEmpty else { return }
    _ = try await session.request { try await $0.delete(.ids(there)) }
  }

  // MARK: list

  private func list(_ session: Session) async throws(Failure) {
    let items = try await DockerPlace.allItems(session)
    var accounts: [String: String] = [:]
    for item in items {
      guard let name = DockerPlace(item)?.name, accounts[name] == nil else { continue }
      accounts[name] = Self.account(of: item)
    }
    try JSON.print(accounts)
  }

  // MARK: Input and output

  /// The failures that docker recognizes, by their texts.
  private enum KnownFailure: String {
    case notFound = "credentials not found in native keychain"
    case noServer = "no credentials server URL"
    case noAccount = "no credentials username"
  }

  /// Writes the text of a failure to standard output, where docker reads it, and returns the failure to throw.
  private static func answer(_ failure: KnownFailure) throws(Failure) -> Failure {
    try StandardOutput.line(failure.rawValue)
    return .answered
  }

  private static func account(of item: Item) -> String {
    if case .text(let account)? = item.attributes[.account] { account } else { "" }
  }

  /// The registry whose name is on standard input.
  private static func place() throws(Failure) -> DockerPlace {
    let input = try input()
    guard let text = input.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
      throw .usage("the registry's name is not UTF-8", advice: "write names in UTF-8")
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let name = words.first else { throw try answer(.noServer) }
    guard words.count == 1 else { throw .usage("a registry's name has no spaces", advice: "docker runs this command") }
    return DockerPlace(String(name))
  }

  /// The longest input, in bytes: the longest secret, with every byte escaped, and its names.
  private static let limit = 6 * NewItem.secretLimit + 65_536

  private static func input() throws(Failure) -> SecretBytes {
    do throws(ReadError) {
      return try SecretBytes.read(from: STDIN_FILENO, limit: limit)
    } catch {
      switch error {
      case .tooLong: throw Failure(.secretTooLong(limit: NewItem.secretLimit))
      case .endOfInput: throw .cannotRead("docker's request from standard input", EIO)
      case .system(let code): throw .cannotRead("docker's request from standard input", code)
      }
    }
  }
}
