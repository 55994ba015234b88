internal import Glibc
internal import Prompts
internal import SecretModel

/// Why the program cannot start. Printed as its last line.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  init(unopened error: VaultError) {
    let (what, advice) = (error.explanation.what, error.explanation.advice)
    description = "the store cannot be opened: \(what): \(advice)"
  }
}

/// Standard error, which is the journal if systemd has started the program.
enum Diagnostics {
  static func line(_ text: String) {
    // Text from another program must not look like a line of this one.
    _ = writeAll("whorl-agent: \(Visible.text(text))\n", to: STDERR_FILENO)
  }
}
