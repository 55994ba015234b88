import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import SessionPrompts
import Settings
import Whorl

struct SecretServiceImport: Command {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copy what the desktop's Secret Service has.",
    discussion: """
      Copies every collection of the program that is the Secret Service now (GNOME Keyring, KWallet, KeePassXC), with \
      labels, attributes, content types and secrets, so that programs find their passwords when Whorl has taken over. \
      The default collection becomes 'login'. The collection of items that end with the session is left out. The other \
      program may ask for its password, and keeps what it has.

      What is copied opens with the session, as before, unless --access says otherwise or its collection has a rule \
      here. What is there stays as it is: an import can be run again. It compares the secrets of items without a rule, \
      and tells which are others here, such as one that a sandboxed program was given anew and cannot open its files \
      with. --replace takes the other program's secret for these, and for items with a rule, which keep it.

      What programs stored between the copy and the moment when Whorl took over is brought in by itself, and named in a \
      notification, where Whorl can open the other program's files ('whorl login enable gnome-keyring' or 'kwallet'). \
      Elsewhere run this again: while Whorl is the service, it asks for the password of the login keyring or of \
      KWallet, and reads copies of the files. It asks for the passwords of other keyrings, too, unless the login keyring \
      has them; with nothing typed such a keyring is left out.

      The originals stay readable in the other program, for every program of yours and without a finger, also where the \
      copies are gated here. --remove-old copies what is missing, and then removes the originals whose secrets are the \
      same here, after it has asked: each is compared immediately before. Items with a rule ask for a touch. Programs \
      find what was removed when Whorl is the service ('whorl secret-service enable --now'); \
      'whorl secret-service disable' copies it back.

      Examples:
        whorl secret-service import --dry-run
        whorl secret-service import
        whorl secret-service import --replace --dry-run
        whorl secret-service import --remove-old
      """)

  static let spoken = "secret-service import"

  @OptionGroup var options: GlobalOptions

  @Option(help: "What releases the secrets.")
  var access: AccessControl.Constraint?

  @Flag(help: "Take the other program's secret where the store has the item with another one.")
  var replace = false

  @Flag(help: "Show what would be copied and removed, and change nothing.")
  var dryRun = false

  @Flag(help: "Remove the originals that are the same in Whorl from the other program.")
  var removeOld = false

  @Flag(name: .shortAndLong, help: "Do not ask whether to remove the originals.")
  var yes = false

  @Option(
    help: ArgumentHelp(
      "Read passwords from this descriptor, where Whorl is the service already: that of the login keyring or of KWallet, and "
        + "then a line for each keyring with a password of its own.", valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  // For whorl-agent: brings in what came after the last copy, and asks nobody.
  @Flag(help: .hidden)
  var missed = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let dialogue = CommandDialogue(session, of: Self.spoken, passwordFd: passwordFd)
    if missed {
      for notice in try await MissedPasswords.bringByItself(dialogue) {
        let text = Visible.text(notice.text)
        StandardError.line("\(notice.title). \(text)")
        await DesktopNote.leave(notice.title, text, onBus: BaseDirectories.sessionBus)
      }
      return
    }
    var copy = DesktopPasswordCopy(dialogue)
    (copy.access, copy.replaces, copy.dryRun) = (access, replace, dryRun)
    (copy.removesOriginals, copy.isAgreed) = (removeOld, yes)
    let report = try await copy.run()
    if options.json { try JSON.print(report) }
  }
}
