import ArgumentParser
import Vault

struct Remove: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove items.",
    discussion: """
      Never needs a finger. Removes all the items named, or none when one of them does not exist.

      Example:
        whorl rm mail/alice mail/bob
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The items' names.", valueName: "name"))
  var names: [String]

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    var names: [ItemName] = []
    for text in self.names { names.append(try session.itemName(text)) }
    let vault = try session.vault()
    let gone = names
    try await session.explained { () async throws(VaultError) in try await vault.remove(gone) }
    if options.json { try JSON.print(["removed": names.map(\.description)]) }
  }
}
