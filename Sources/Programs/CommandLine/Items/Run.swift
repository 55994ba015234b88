import ArgumentParser
import SecretModel
import SecureMemory
import Settings

struct Run: Command {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a command with secrets in its environment.",
    discussion: """
      One touch releases all of them. The command takes this program's place, so its exit status is what the caller \
      sees; 127 when it is not found and 126 when it cannot be run, before any touch is asked for. A secret with a NUL \
      in it cannot be an environment variable: status 65. Items are named as 'whorl get' takes them; --class and \
      --group narrow all of them.

      Everything the command starts inherits the variables, and other programs of the same user can read them: prefer \
      'whorl get' into a pipe where the command can read one.

      Example:
        whorl run --env TOKEN=forge/token --env USER_PW=mail/alice -- ./publish --all
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var release: ReleaseOptions
  @OptionGroup var choice: ItemOptions

  @Option(
    name: .customLong("env"), parsing: .singleValue,
    help: ArgumentHelp("The variable and the item that fills it.", valueName: "variable=name"))
  var variables: [String] = []

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    if variables.isEmpty { throw ValidationError("Name at least one secret with --env NAME=SERVICE/ACCOUNT.") }
    if command.isEmpty { throw ValidationError("Give the command after --.") }
    if options.json { throw ValidationError("--json has no meaning here: the output is the command's.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let wanted = try wanted()
    let program = try ReplacementProgram(command)
    let items = try await release.release(
      wanted.map(\.name), choice, session, reason: release.reason ?? "run \(command[0])"
    ) { items throws(Failure) in items }
    for item in items where item.secret.withUnsafeBytes({ $0.contains(0) }) {
      throw Failure(
        .damaged, "the secret of \(item.name) has a NUL in it and cannot be an environment variable",
        name: "errSecDecode", advice: "read it with 'whorl get' instead")
    }
    // Close the connection first: the command must inherit neither it nor a child process.
    await session.close()
    throw program.run(
      with: zip(wanted, items).map { ($0.variable, $1) }, hardening,
      closing: [options.passcodeFd, release.appPasswordFd].compactMap { $0 })
  }

  private func wanted() throws(Failure) -> [(variable: String, name: String)] {
    var wanted: [(variable: String, name: String)] = []
    for text in variables {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, Self.isVariable(parts[0]) else {
        throw .usage("--env \(text): not VARIABLE=SERVICE/ACCOUNT", advice: "such as --env TOKEN=forge/token")
      }
      guard !wanted.contains(where: { $0.variable == parts[0] }) else {
        throw .usage("--env names \(parts[0]) twice", advice: "name it once")
      }
      wanted.append((String(parts[0]), String(parts[1])))
    }
    return wanted
  }

  /// Whether the text is a valid name of a shell variable.
  private static func isVariable(_ text: Substring) -> Bool {
    let scalars = text.unicodeScalars
    guard let first = scalars.first, first == "_" || first.properties.isAlphabetic else { return false }
    return scalars.allSatisfy { $0.isASCII && ($0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)) }
  }
}
