import ArgumentParser
import CommandBase
import Settings

struct SecretServiceEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Make Whorl the Secret Service of your desktop.",
    discussion: """
      Tells which program has that part now, and writes the files of this user with which whorl-agent takes it over at \
      the next login: the bus starts it when a program asks for a secret, and GNOME Keyring starts without its Secret \
      Service. Files that are not Whorl's are never overwritten. Run 'whorl secret-service import' before that login: \
      it copies what the other program has, which keeps it. What programs store there until then is brought in afterwards. --now takes over at once; a daemon of GNOME Keyring is \
      restarted for it. The service gets the --store, --reader and --config of this command.

      --kwallet also has KWallet of KDE Frameworks 6.14 and later keep in Whorl what KDE's programs store, from the next \
      login on, in place of a service of its own. They find there what 'whorl secret-service import' has copied. \
      'whorl secret-service disable' takes that back, too.

      Examples:
        whorl secret-service enable --dry-run
        whorl secret-service enable --now
        whorl secret-service enable --kwallet
      """)

  static let spoken = "secret-service enable"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Take over at once, not at the next login.")
  var now = false

  @Flag(help: "Have KWallet use Whorl, too.")
  var kwallet = false

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let takeover = try SecretServiceTakeover(CommandDialogue(session, of: Self.spoken))
    let report = try await takeover.run(
      atOnce: now, withKWallet: kwallet, dryRun: dryRun, ServiceManager(hardening))
    if options.json { try JSON.print(report) }
  }
}
