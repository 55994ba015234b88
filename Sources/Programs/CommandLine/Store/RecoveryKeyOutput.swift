import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings

/// Where a new recovery key is shown: on a script's descriptor, or at the terminal on standard error.
struct RecoveryKeyOutput {
  /// Nil: standard error.
  private let descriptor: Int32?

  /// - Parameters:
  ///   - descriptor: nil for standard error.
  ///   - option: the option that names a descriptor.
  /// - Throws: `interactionNotAllowed` if standard error is not a terminal, since the key would end in a log or be
  ///   lost.
  init(descriptor: Int32?, option: String) throws(Failure) {
    guard descriptor != nil || StandardError.isTerminal else {
      throw .interactionNotAllowed(
        "the recovery key is shown at a terminal, and standard error is none",
        advice: "name a descriptor with \(option)")
    }
    self.descriptor = descriptor
  }

  /// Writes the complete key.
  ///
  /// - Parameters:
  ///   - heading: the line above it on standard error.
  ///   - consequence: the error's text if it cannot be written.
  func show(
    _ key: borrowing SecretBytes, _ heading: String, otherwise consequence: String
  ) throws(VaultError) {
    if let descriptor { return try Self.write(key, to: descriptor, otherwise: consequence) }
    StandardError.line("\(heading)\n")
    StandardError.write("    ")
    try Self.write(key, to: STDERR_FILENO, otherwise: consequence)
    StandardError.line("")
  }

  private static func write(
    _ key: borrowing SecretBytes, to descriptor: Int32, otherwise consequence: String
  ) throws(VaultError) {
    do {
      try key.write(to: descriptor)
    } catch {
      throw .inputOutput("the recovery key cannot be written to descriptor \(descriptor), and \(consequence)")
    }
    if writeAll("\n", to: descriptor) != nil {
      throw .inputOutput("the recovery key cannot be written whole to descriptor \(descriptor), and \(consequence)")
    }
  }
}
