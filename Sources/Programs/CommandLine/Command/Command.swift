import ArgumentParser

/// One command of the program.
protocol Command: ParsableCommand {
  var options: GlobalOptions { get }

  /// The command's name at the beginning of error messages.
  static var spoken: String { get }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure)
}

extension Command {
  static var spoken: String { configuration.commandName ?? _commandName }
}
