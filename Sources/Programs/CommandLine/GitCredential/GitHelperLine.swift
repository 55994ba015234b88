/// The line of git's configuration by which git asks Whorl.
enum GitHelperLine {
  /// A shell runs it, with what git wants at its end. Where Whorl is removed, it does nothing and says nothing; of the
  /// helper `whorl` git would say each time that it is missing.
  static let value = "!type whorl >/dev/null 2>&1 && whorl git-credential"

  /// All lines that have git ask Whorl, with options as well, as a regular expression of git.
  static let pattern = "^(whorl( |$)|!type whorl .*whorl git-credential)"
}
