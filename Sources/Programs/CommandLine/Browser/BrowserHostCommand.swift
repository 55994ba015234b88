import ArgumentParser
import BrowserLogins
import CommandBase
import Glibc
import Processes
internal import Prompts
import SecretModel
import SessionPrompts
import Settings
import Whorl

struct BrowserHostCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "host",
    abstract: "Give one browser the logins of its pages.",
    discussion: """
      A browser runs this command as browser-whorl after 'whorl browser enable', and talks with it over standard input \
      and output in the protocol of KeePassXC-Browser.

      Browsers pass no options of Whorl's. For another store, make a script like this and name it with \
      'whorl browser enable --program':

        #!/bin/sh
        exec whorl browser host --store /srv/mine -- "$@"

      Example:
        whorl browser host < /dev/null
      """)

  static let spoken = "browser host"

  @OptionGroup var options: GlobalOptions

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("What a browser passes to a program.", valueName: "argument"))
  var given: [String] = []

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let (directory, reader, config) = (options.store, options.reader?.description, options.config)
    let log: @Sendable (String) -> Void = { StandardError.line(Visible.text("whorl: browser: \($0)")) }
    let surroundings = AgentPrompt.Surroundings(
      bus: BaseDirectories.sessionBus, environment: UserEnvironment.entries, log: log)
    let configuration = BrowserHost.Configuration(
      bus: surroundings.bus, program: ClientProgram(getppid()), identity: try Self.identity(session),
      access: AccessControl(session.configuration.access ?? .presence),
      openStore: { () throws(VaultError) in
        try SecretStore.open(at: directory, reader: reader, configuration: config)
      }, prompt: { AgentPrompt(in: surroundings, asker: $0.asker()) }, log: log)
    await BrowserHost(configuration, writingTo: STDOUT_FILENO).serve(readingFrom: STDIN_FILENO)
  }

  /// Distinguishes the store from others of this user.
  private static func identity(_ session: Session) throws(Failure) -> String {
    switch try session.place() {
    case .own: "own"
    case .folder(let folder): folder.directory
    }
  }
}
