import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings
import Whorl

struct Backup: Command {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Write a copy of the store into a new directory.",
    discussion: """
      Copies the whole store, as it is at one moment, into a new or empty directory. Other programs may use the store \
      meanwhile. Asks nobody: nothing in the copy can be read, and no passcode tried on it, without the key file of this \
      store or its recovery key.

      'whorl restore' puts a copy back: with the passcode while this store is there, else with the recovery key. Keys, \
      fingers and logins of other machines are no part of it; 'whorl export' moves items to another store.

      Examples:
        whorl backup ~/backups/whorl-2026-11-23
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The directory to make.", valueName: "directory"), completion: .directory)
  var directory: String

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let output = try BackupDirectory(new: directory)
    let items = try await session.request { try await $0.status() }.items
    try await output.write(try await session.openStore())
    if options.json { return try JSON.print(Report(directory: directory, items: items)) }
    StandardError.line("The store and its \(Spoken.plural(items, "item")) are in \(Visible.text(directory)).")
  }

  private struct Report: Encodable {
    var directory: String
    var items: Int
  }
}
