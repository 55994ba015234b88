import Glibc
import SecretModel
import SecureMemory
import Whorl

/// Where a new recovery key is shown: on a script's descriptor, or on standard error.
struct RecoveryKeyOutput {
  /// Nil: standard error.
  var descriptor: Int32?

  /// Writes the key, and returns once it is written whole.
  ///
  /// - Parameters:
  ///   - heading: what is said above it on standard error.
  ///   - consequence: what the error says where it cannot be written.
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
