import ArgumentParser
import CommandBase
import Primitives
import SecretModel
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

      A file of --env-file has a variable on each line, NAME=VALUE, and comments in lines that begin with #. A value \
      that is whorl://NAME is the secret of that item, and in others {{ whorl://NAME }} stands for it, as in \
      'whorl inject'. Put a value with quotation marks, \\, $, ` or # in it between ' and '; it is never changed. A line \
      that cannot be understood is refused with its number, status 65, before anybody is asked.

      With --mask the command's output goes through this program, which shows ***** in place of each secret that is \
      written as it is. The output is then no terminal, and what is encoded or written in parts of lines is not found.

      Examples:
        whorl run --env TOKEN=forge/token --env USER_PW=mail/alice -- ./publish --all
        whorl run --env-file app.env --mask -- ./app
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var release: ReleaseOptions
  @OptionGroup var choice: ItemOptions

  @Option(
    name: .customLong("env"), parsing: .singleValue,
    help: ArgumentHelp("The variable and the item that fills it.", valueName: "variable=name"))
  var variables: [String] = []

  @Option(
    name: .customLong("env-file"), parsing: .singleValue,
    help: ArgumentHelp("A file of variables, in which whorl://NAME stands for a secret.", valueName: "file"),
    completion: .file())
  var files: [String] = []

  @Flag(help: "Show ***** for the secrets in what the command writes.")
  var mask = false

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    if variables.isEmpty, files.isEmpty {
      throw ValidationError("Name at least one secret with --env NAME=SERVICE/ACCOUNT, or a file with --env-file.")
    }
    if command.isEmpty { throw ValidationError("Give the command after --.") }
    if options.json { throw ValidationError("--json has no meaning here: the output is the command's.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let wanted = try wanted()
    let program = try ReplacementProgram(command)
    var names: [WrittenName] = []
    for name in wanted.flatMap(\.value.names) where !names.contains(name) { names.append(name) }
    let secrets = try await release.releaseByName(
      names, choice, session, reason: release.reason ?? "run \(command[0])")
    for item in secrets.values where item.secret.withUnsafeBytes({ $0.contains(0) }) {
      throw Failure(
        .damaged, "the secret of \(item.name) has a NUL in it and cannot be an environment variable",
        name: "errSecDecode", advice: "read it with 'whorl get' instead")
    }
    var filled: [(name: String, value: SharedSecret)] = []
    for (name, value) in wanted { filled.append((name, SharedSecret(try value.filled(with: secrets)))) }
    // Close the connection first: the command must inherit neither it nor a child process.
    await session.close()
    let environment = FilledEnvironment(filled)
    let closing = [options.passcodeFd, release.appPasswordFd].compactMap { $0 }
    guard mask else { throw program.run(with: environment, hardening, closing: closing) }
    var masked: [SharedSecret] = []
    for (_, value) in wanted { masked += try value.secrets(of: secrets) }
    Interruption.end(with: try await program.run(with: environment, masking: masked, hardening, closing: closing))
  }

  private func wanted() throws(Failure) -> [EnvironmentFile.Variable] {
    var wanted: [EnvironmentFile.Variable] = []
    for file in files { wanted += try EnvironmentFile.variables(of: file) }
    for text in variables {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, EnvironmentFile.isName(parts[0].utf8) else {
        throw .usage("--env \(text): not VARIABLE=SERVICE/ACCOUNT", advice: "such as --env TOKEN=forge/token")
      }
      wanted.append((String(parts[0]), SecretTemplate(secret: String(parts[1]))))
    }
    for (place, variable) in wanted.enumerated() where wanted[..<place].contains(where: { $0.name == variable.name }) {
      throw .usage("\(variable.name) is named twice", advice: "name it once, with --env or in a file")
    }
    return wanted
  }
}
