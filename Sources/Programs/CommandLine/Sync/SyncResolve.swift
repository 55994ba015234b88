import ArgumentParser
import CommandBase
import Moving
internal import Primitives
internal import Prompts
import SecretModel
import Settings

struct SyncResolve: Command {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Choose between two versions of an item, or take in one that waits.",
    discussion: """
      Where two machines have changed an item at the same time, the later one counts everywhere, and the other version \
      is kept beside it. --use puts the kept version in the place of the current one; --drop removes the kept one. \
      Without either it asks. --use asks for what the item needs.

      An item that is bound to the fingers of a machine waits on the others: this binds it to the fingers enrolled here, \
      after a touch. What needs the passcode waits until it was given once here: without a name this asks for it, and \
      takes all of it in.

      Examples:
        whorl sync resolve
        whorl sync resolve mail/alice
        whorl sync resolve mail/alice --use
        whorl sync resolve mail/alice --drop --version 0123456789abcdef
      """)

  static let spoken = "sync resolve"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The item's name.", valueName: "name"), completion: .itemNames)
  var name: String?

  @Flag(help: "Make the kept version the current one.")
  var use = false

  @Flag(help: "Remove the kept version.")
  var drop = false

  @Option(help: ArgumentHelp("The kept version, if there are several.", valueName: "id"))
  var version: String?

  func validate() throws {
    if use, drop { throw ValidationError("--use and --drop exclude each other.") }
    if name == nil, use || drop || version != nil { throw ValidationError("Name the item.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    guard let name else {
      try await sync.openWaiting()
      if options.json { try JSON.print(["done": ["opened"]]) }
      return
    }
    let status = try await sync.status()
    let kept = status.kept.filter { $0.item.description == name && (version == nil || $0.id == version) }
    let waiting = status.waiting.first { $0.item.description == name }
    guard !kept.isEmpty || waiting != nil else {
      throw Failure(
        .notFound, "\(name) has no second version, and is not waiting", name: "errSecItemNotFound",
        advice: "'whorl sync status' lists what there is")
    }
    var done: [String] = []
    if let waiting {
      try await resolve(.bind(waiting.item), "take in \(name)", sync)
      done.append("taken in")
    }
    for version in kept {
      switch try choice(of: version, isOnly: kept.count == 1, named: name) {
      case .use:
        try await resolve(.use(kept: version.id), "use another version of \(name)", sync)
        done.append("used")
      case .drop:
        try await resolve(.drop(kept: version.id), "drop a version of \(name)", sync)
        done.append("dropped")
      case nil: continue
      }
    }
    if !done.isEmpty { try await sync.publishIfReachable(Self.spoken) }
    if options.json { try JSON.print(["done": done]) }
  }

  private enum Choice { case use, drop }

  private func choice(
    of version: SyncStatus.Kept, isOnly: Bool, named name: String
  ) throws(Failure) -> Choice? {
    if use || drop {
      guard isOnly else {
        throw .usage(
          "several versions of \(name) are kept",
          advice: "'whorl sync resolve \(name)' asks about each; 'whorl sync status --json' has their ids for --version"
        )
      }
      return use ? .use : .drop
    }
    guard let terminal = Terminal() else {
      throw .interactionNotAllowed(
        "a choice is needed, and there is no terminal to ask at", advice: "say --use or --drop")
    }
    let words = "The version that \(version.writer) wrote on \(Spoken.time(Int64(clamping: version.written)))"
    do {
      switch try terminal.readLine(Visible.text("\(words): use it, drop it, or leave it? [u/d/L]"))?.lowercased() {
      case "u", "use": return .use
      case "d", "drop": return .drop
      default: return nil
      }
    } catch {
      throw Failure(error)
    }
  }

  private func resolve(_ resolution: SyncResolution, _ reason: String, _ sync: SyncSession) async throws(Failure) {
    try await sync.session.asking(sync.session.answers(), reason: Visible.text(reason)) {
      try await $0.sync.resolve(resolution, $1)
    }
  }
}
