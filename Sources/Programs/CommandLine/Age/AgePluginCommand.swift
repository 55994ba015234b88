import ArgumentParser
import CommandBase
import Processes
import Settings

struct AgePluginCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "age-plugin",
    abstract: "Decrypt files for age with keys that stay in the vault.",
    discussion: """
      age, rage, sops and passage run this command as age-plugin-whorl for an identity that begins with \
      AGE-PLUGIN-WHORL-1, and talk with it over standard input and output. 'whorl age add' makes a key with such an \
      identity. To encrypt, give age the key's public half, age1…: that needs neither Whorl nor a touch.

      Each file needs a touch of its own, or what else the key's rule requires. If a program passes several files at \
      once, it is asked whether one touch shall do for all.

      The programs pass no options of Whorl's. For another store, make a script with the name age-plugin-whorl that comes \
      first in PATH:

        #!/bin/sh
        exec whorl age-plugin --store /srv/mine "$@"

      Examples:
        age -d -i identity.txt file.age
        whorl age-plugin --age-plugin=identity-v1
      """)

  /// What age wants, and in which version of its protocol.
  enum Machine: String, ExpressibleByArgument, CaseIterable {
    case recipient = "recipient-v1"
    case identity = "identity-v1"
  }

  @OptionGroup var options: GlobalOptions

  @Option(help: ArgumentHelp("What age wants.", valueName: "machine"))
  var agePlugin: Machine

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    switch agePlugin {
    case .recipient:
      var wrapping = AgeWrappingMachine(session)
      try await wrapping.run()
    case .identity:
      var unwrapping = AgeUnwrappingMachine(session)
      try await unwrapping.run()
    }
  }
}
