import ArgumentParser
import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// The options of the commands that release secrets.
struct ReleaseOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Why the secret is needed; shown in the prompt.", valueName: "text"))
  var reason: String?

  @Flag(help: "Ask nobody: what needs a finger or a passcode is refused.")
  var noPrompt = false

  @Option(help: ArgumentHelp("How long one touch is waited for.", discussion: "Default: 60.", valueName: "seconds"))
  var timeout: Double?

  @Option(
    help: ArgumentHelp(
      "Read the application password from this descriptor, a line for each item that asks.", valueName: "n"),
    transform: GivenDescriptors.number)
  var appPasswordFd: Int32?

  func validate() throws {
    if let timeout, Duration(timeout: timeout) == nil {
      throw ValidationError("--timeout takes a number of seconds above 0, up to a day.")
    }
  }

  func answers(_ session: Session) -> Answers {
    session.answers(applicationPassword: appPasswordFd, noPrompt: noPrompt)
  }

  private func context(_ session: Session) -> ContextOptions {
    var context = session.contextOptions
    context.interactionNotAllowed = noPrompt
    if let timeout = timeout.flatMap({ Duration(timeout: $0) }) { context.timeout = timeout }
    return context
  }

  /// Releases the named items and passes them to `use` before anything else, since the person is waiting.
  func release<Answer: Sendable>(
    _ names: [String], _ choice: ItemOptions, _ session: Session, reason: String?,
    _ use: ([ReleasedItem]) throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    func released(_ wanted: ItemSelection) async throws(Failure) -> Answer {
      try await asking(session, reason: reason) { try use(try await $0.secrets(wanted, $1)) }
    }
    if let exact = choice.exactNames(names) {
      do throws(Failure) {
        return try await released(.names(exact))
      } catch  where error.cause == .itemGone {
        // One of the names is not the command line's item, and may be another program's.
      }
    }
    return try await released(
      .ids(try await ItemChoice(options: choice, purpose: .reading, session: session).readable(named: names)))
  }

  /// Makes the last request of a command, which asks the person as these options say.
  func asking<Answer: Sendable>(
    _ session: Session, reason: String?, _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer {
    // Programs read items that need nobody: then no context is opened. A person does not notice the refused first try.
    try await session.asking(
      answers(session), options: context(session), reason: reason.map(Self.shown), triesFirst: true,
      endsWithConnection: true, request)
  }

  /// Releases the named items, for one touch. Asks nobody where no item is named.
  func releaseByName(
    _ names: [WrittenName], _ choice: ItemOptions, _ session: Session, reason: String
  ) async throws(Failure) -> [WrittenName: ReleasedItem] {
    guard !names.isEmpty else { return [:] }
    let items = try await release(names.map(\.text), choice, session, reason: reason) { items throws(Failure) in items }
    return Dictionary(zip(names, items)) { first, _ in first }
  }

  /// The most characters shown of a reason.
  private static let longestReason = 256

  /// The reason from the program that started this one, without characters that could imitate the prompt.
  private static func shown(_ reason: String) -> String { PromptLabel.text(reason, longest: longestReason) }
}

struct Get: Command {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Release secrets.",
    discussion: """
      One touch releases all the items named. NAME is SERVICE or SERVICE/ACCOUNT of an item of the command line, or the \
      name, or 'id:' and the id, that 'whorl ls' tells of any other; --class and --group narrow it. A name that several \
      items have is refused. The secret of a key is given out only with --class key or by its id.

      A secret is written as it was stored; a newline follows only on a \
      terminal. Several secrets have a newline between them, or with --null a NUL after each, for secrets that hold \
      newlines. With --json they are in base64.

      Examples:
        whorl get mail/alice
        whorl get mail/alice --reason "send the report" | mailer --password-stdin
        whorl get backup/user backup/password --null
        whorl get example.com/alice --class internet-password
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var release: ReleaseOptions
  @OptionGroup var choice: ItemOptions

  @Argument(help: ArgumentHelp("The items' names.", valueName: "name"), completion: .itemNames)
  var names: [String]

  @Flag(name: [.customShort("0"), .long], help: "Write a NUL after each secret, and nothing else.")
  var null = false

  func validate() throws {
    if null, options.json { throw ValidationError("--null and --json exclude each other.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    try await release.release(names, choice, session, reason: release.reason) { items throws(Failure) in
      try write(items)
    }
  }

  private func write(_ items: [ReleasedItem]) throws(Failure) {
    if options.json { return try writeJSON(items) }
    for (index, item) in items.enumerated() {
      try item.secret.writeAnswer()
      if null {
        try StandardOutput.write("\0")
      } else if StandardOutput.isTerminal || index < items.count - 1 {
        try StandardOutput.write("\n")
      }
    }
  }

  /// Writes JSON piece by piece, so that no secret passes through an encoder's memory.
  private func writeJSON(_ items: [ReleasedItem]) throws(Failure) {
    try StandardOutput.write(#"{"items":["#)
    for (index, item) in items.enumerated() {
      let name = try JSON.text(item.name.account)
      let service = try JSON.text(item.name.service)
      try StandardOutput.write(#"\#(index > 0 ? "," : ""){"account":\#(name),"secret":""#)
      try item.secret.base64().writeAnswer()
      try StandardOutput.write(#"","service":\#(service)}"#)
    }
    try StandardOutput.write("]}\n")
  }
}

extension SecretBytes {
  /// - Parameter descriptor: standard output, or a file that the command makes.
  borrowing func writeAnswer(to descriptor: Int32 = STDOUT_FILENO) throws(Failure) {
    do {
      try write(to: descriptor)
    } catch {
      switch error {
      case .closed: throw .cannotWrite(EPIPE)
      case .system(let code): throw .cannotWrite(code)
      }
    }
  }

  /// The bytes in base64, in locked memory.
  borrowing func base64() -> SecretBytes {
    var text = SecretBytes(count: Base64.encodedCount(count))
    withUnsafeBytes { source in text.withUnsafeMutableBytes { Base64.encode(source, into: $0) } }
    return text
  }
}
