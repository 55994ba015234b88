import ArgumentParser
import CommandBase
internal import Prompts
internal import SecretModel
import Settings

struct SecretServiceList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what the Secret Service keeps.",
    discussion: """
      Collections, programs with a rule, and items with the attributes by which programs find them, and the rule of \
      each. Needs no finger. The rule of a collection or a program becomes that of the items that are stored from then \
      on. A dead item was bound to fingers or a passcode that are gone. On a terminal a table; elsewhere a line for \
      each with its kind, name, label, attributes, rule and state, separated by tabs; the name of an item is its \
      collection and its id.

      Examples:
        whorl secret-service list
        whorl secret-service list --json
      """)

  static let spoken = "secret-service list"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let contents = try await session.request { try await SecretServiceContents(of: $0, [.living, .dead]) }
    // Programs without a rule use that of the collection, so they are not listed.
    let programs = contents.programs.filter { $0.access != nil }
    if options.json {
      return try JSON.print(
        Report(
          collections: contents.collections.map(SecretServiceFolderRow.init),
          programs: programs.map(SecretServiceFolderRow.init),
          items: contents.items.map(SecretServiceItemRow.init)))
    }
    var table = Table()
    // For scripts, in the words of the options and with ids.
    let isTechnical = options.verbose || !StandardOutput.isTerminal
    for folder in contents.collections + programs {
      let rule = isTechnical ? folder.rule.words : folder.rule.spoken
      table.add([folder.kind.rawValue, folder.name, folder.label, "", rule, ""].map(Visible.text))
    }
    for item in contents.items {
      let name = isTechnical ? "\(item.collection) \(item.id.spoken)" : item.collection
      let (rule, state) =
        isTechnical ? (item.rule.words, item.state.rawValue) : (item.rule.spoken, item.state.spoken ?? "")
      table.add(["item", name, item.label, item.spokenAttributes, rule, state].map(Visible.text))
    }
    try table.print(head: ["KIND", "NAME", "LABEL", "ATTRIBUTES", "RULE", "STATE"])
  }

  private struct Report: Encodable {
    var collections: [SecretServiceFolderRow]
    var programs: [SecretServiceFolderRow]
    var items: [SecretServiceItemRow]
  }
}

/// A collection or a program as JSON.
struct SecretServiceFolderRow: Encodable {
  var name: String
  var label: String
  var access: String
  var oncePerSession: Bool

  init(_ folder: SecretServiceFolder) {
    (name, label) = (folder.name, folder.label)
    (access, oncePerSession) = (folder.rule.access, folder.rule.grant == .session)
  }
}

/// An item as JSON.
struct SecretServiceItemRow: Encodable {
  var id: String
  var collection: String
  var label: String
  var attributes: [String: String]
  var contentType: String
  var access: String
  var oncePerSession: Bool
  var state: String

  init(_ item: SecretServiceItem) {
    (id, collection, label) = (item.id.spoken, item.collection, item.label)
    (attributes, contentType, state) = (item.attributes, item.contentType, item.state.rawValue)
    (access, oncePerSession) = (item.rule.access, item.rule.grant == .session)
  }
}
