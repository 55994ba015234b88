package import ArgumentParser
internal import Primitives
internal import SecretModel
package import Settings

/// One command of the program.
package protocol Command: ParsableCommand {
  var options: GlobalOptions { get }

  /// The command's name at the beginning of error messages.
  static var spoken: String { get }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure)
}

extension Command {
  package static var spoken: String { configuration.commandName ?? _commandName }
}
