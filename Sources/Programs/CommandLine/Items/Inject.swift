import ArgumentParser
import CommandBase
import Glibc
import Primitives
import SecretModel
import Settings
import Whorl

struct Inject: Command {
  static let configuration = CommandConfiguration(
    commandName: "inject",
    abstract: "Fill a template with secrets.",
    discussion: """
      Writes a text in which each {{ whorl://NAME }} is replaced by the secret of that item; NAME is what 'whorl get' \
      takes. {{ json whorl://NAME }} writes the secret as a string of JSON, with its quotation marks. \
      Other braces stay as they are. One touch releases all of them, and nobody is asked before the whole template is \
      read: a reference that cannot be understood is refused with its line, status 65.

      The template is in UTF-8 and has at most 1 MiB. --out makes a file that only you can read, \
      whole or not at all; the secrets lie unencrypted in it, so remove it when you no longer need it.

      Examples:
        whorl inject --in app.conf.template --out app.conf
        echo 'password = {{ whorl://mail/alice }}' | whorl inject
        echo '{"token": {{ json whorl://forge/token }}}' | whorl inject
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var release: ReleaseOptions
  @OptionGroup var choice: ItemOptions

  @Option(
    name: .customLong("in"),
    help: ArgumentHelp("The template.", discussion: "Default: standard input.", valueName: "file"),
    completion: .file())
  var input: String?

  @Option(
    name: .customLong("out"),
    help: ArgumentHelp("The file to make.", discussion: "Default: standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Overwrite a file of that name.")
  var replace = false

  func validate() throws {
    if options.json { throw ValidationError("--json has no meaning here: the template says what is written.") }
    if replace, output == nil { throw ValidationError("--replace is for the file of --out.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let template = try SecretTemplate(
      parsing: SecretTemplate.text(of: input), of: input ?? "standard input")
    let file = try output.map { (path) throws(Failure) in try NewFile(path, replacing: replace) }
    let place = output ?? input
    let secrets = try await release.releaseByName(
      template.names, choice, session, reason: release.reason ?? "fill in \(place ?? "a template")")
    let filled = SharedSecret(try template.filled(with: secrets))
    guard let file else { return try filled.bytes.writeAnswer() }
    try await file.write { descriptor throws(Failure) in try filled.bytes.writeAnswer(to: descriptor) }
  }
}
