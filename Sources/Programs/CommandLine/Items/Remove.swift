import ArgumentParser
import CommandBase
import Glibc
internal import Prompts
import SecretModel
import Settings

struct Remove: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove items.",
    discussion: """
      Never needs a finger. At a terminal it asks first, unless --yes is given; in a pipe or with its input elsewhere it \
      does not, but for a pattern. Removes all the items named, or none when one of them does not exist. NAME is SERVICE or \
      SERVICE/ACCOUNT of an item of the command line. An item of another program is named by the name or 'id:' and the \
      id that 'whorl ls' tells; by name only with --class or --group. A pattern with * and ? means the items of the \
      command line's group, or of --group; they are listed, and removed after a yes.

      Examples:
        whorl rm mail/alice mail/bob
        whorl rm 'mail/*'
        whorl rm example.com/alice --class internet-password
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var choice: ItemOptions

  @Argument(help: ArgumentHelp("The items' names.", valueName: "name"), completion: .itemNames)
  var names: [String]

  @Flag(name: .shortAndLong, help: "Do not ask whether the items may go.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let choice = ItemChoice(options: choice, purpose: .removing, session: session)
    var doomed: [(called: String, item: Item)] = []
    var matched: [Item] = []
    for name in names {
      do {
        doomed.append((name, try await choice.items(named: [name])[0]))
      } catch  where error.status == .notFound && name.contains(where: { $0 == "*" || $0 == "?" }) {
        let found = try await items(like: name, session)
        guard !found.isEmpty else { throw .noItem(name) }
        matched += found
        doomed += found.map { ($0.name?.description ?? $0.id.spoken, $0) }
      }
    }
    if !matched.isEmpty, !yes {
      StandardError.line("\(Spoken.plural(matched.count, "item")) will be removed:")
      for item in matched {
        StandardError.line("  \(Visible.text("\(item.name?.description ?? ""): \(item.spoken)"))")
      }
      try session.answers().confirm("Go on?", assent: "--yes")
    } else if !yes, isatty(STDIN_FILENO) == 1, StandardError.isTerminal {
      let them = doomed.count == 1 ? "It" : "They"
      try session.answers().confirm(
        "Remove \(Self.quoted(doomed.map(\.called)))? \(them) cannot be brought back.", assent: "--yes")
    }
    let ids = doomed.map(\.item.id)
    _ = try await session.request { try await $0.delete(.ids(ids)) }
    if options.json {
      try JSON.print(["removed": doomed.map(\.called)])
    } else if StandardError.isTerminal {
      StandardError.line("Removed \(Self.quoted(doomed.map(\.called))).")
    }
  }

  /// The names in quotation marks; if there are many, the first ones and the number of the others.
  private static func quoted(_ names: [String]) -> String {
    let shown = names.prefix(PromptLabel.most).map { "“\(Visible.text($0))”" }.joined(separator: ", ")
    return names.count > PromptLabel.most ? "\(shown) and \(names.count - PromptLabel.most) more" : shown
  }

  /// The items that match a pattern in one group: the named one, or else the command line's.
  private func items(like pattern: String, _ session: Session) async throws(Failure) -> [Item] {
    var search = choice.search
    search.pattern = pattern
    if choice.group == nil { search.groups = .named([AccessGroup.commandLine]) }
    let meant = search
    return try await session.request { try await $0.allItems(meant) }
  }
}
