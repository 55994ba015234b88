/// The line of git's configuration that makes git use Whorl.
enum GitHelperLine {
  /// git appends its request and runs it in a shell. After Whorl was removed it does nothing, whereas git would report
  /// a missing helper `whorl` each time.
  package static let value = "!type whorl >/dev/null 2>&1 && whorl git-credential"

  /// A regular expression of git for all lines that make it use Whorl, also with options.
  package static let pattern = "^(whorl( |$)|!type whorl .*whorl git-credential)"
}
