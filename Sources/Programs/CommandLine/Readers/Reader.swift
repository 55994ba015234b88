// `whorl reader`: the list of readers, and the choice between them. `UsableReaders` is how a command reaches one.

import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings

struct Reader: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reader",
    abstract: "Look at fingerprint readers.",
    discussion: """
      Examples:
        whorl reader list
        whorl reader use --help
      """,
    subcommands: [ReaderList.self, ReaderUse.self])
}

struct ReaderList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the readers attached.",
    discussion: """
      Claims none of them. A virtual or replayed reader is there only when --reader or the configuration names it.

      Examples:
        whorl reader list
        whorl reader list --json
      """)

  static let spoken = "reader list"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let readers = try await UsableReaders(session).listed()
    if options.json { return try JSON.print(["readers": readers]) }
    if readers.isEmpty {
      StandardError.line("No reader is attached. 'whorl doctor' says more.")
    }
    let ofFprintd = Set(readers.filter { $0.identity.adapter.sharesFingers }.map(\.name))
    for reader in readers {
      let identity = reader.identity
      var lines = [
        ("driver", identity.adapter.opensDevice ? identity.driver : "fprintd's own"),
        ("id", reader.id),
        ("through", Self.through(reader, ofFprintd)), ("nature", reader.nature.rawValue),
      ]
      if let vendor = identity.vendor, let product = identity.product {
        lines.append(("usb", "\(Hexadecimal.text(of: vendor)):\(Hexadecimal.text(of: product))"))
      }
      if let serial = identity.serial { lines.append(("serial", serial)) }
      if let port = identity.fixedPort { lines.append(("port", "\(port) (built in)")) }
      lines.append(("finger", reader.scanType.rawValue))
      lines.append(("stages", "\(reader.enrollStages)"))
      lines.append(("features", reader.features.map(\.rawValue).sorted().joined(separator: ", ")))
      lines.append(("temperature", reader.temperature.rawValue))
      try StandardOutput.line(Spoken.reader(reader))
      for (name, value) in lines {
        try StandardOutput.line("  \(name)\(String(repeating: " ", count: 12 - name.count))\(Visible.text(value))")
      }
    }
  }

  /// Names the adapters of a reader. Compares names only, since fprintd reports nothing else.
  private static func through(_ reader: ReaderDescription, _ ofFprintd: Set<String>) -> String {
    let adapter = reader.identity.adapter
    guard adapter.opensDevice, ofFprintd.contains(reader.name) else { return adapter.rawValue }
    return "\(adapter.rawValue), where fprintd does not have it open"
  }
}

struct ReaderUse: Command {
  static let configuration = CommandConfiguration(
    commandName: "use",
    abstract: "Change what 'auto' stands for in this store.",
    discussion: """
      The first enrolment records whether readers are reached through fprintd or through libfprint, and 'auto' keeps \
      to it from then on, whatever comes to the machine or goes. This command changes it, after the passcode. No finger \
      is taken out of any set, and an item bound to one set stays bound to it: '--reader' reaches that reader as before. \
      'auto' forgets the choice until the next enrolment.

      With 'fprintd' the fingers that fprintd has open the items that any finger opens, and so does a finger that \
      somebody enrols there later: polkit says who may. Where the configuration names an fprintd other than the \
      machine's own, the fingers it has now are accepted by this command, and a change of them only by repeating it.

      Examples:
        whorl reader use fprintd
        whorl reader use libfprint
      """)

  static let spoken = "reader use"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("fprintd, libfprint or auto.", valueName: "what"))
  var choice: AdapterChoice

  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let adapter = choice.adapter
    _ = try await session.openStore()
    try await session.withPasswordAgent { () async throws(Failure) in
      try await session.asking(session.answers(recoveryKey: recovery.recoveryFd)) {
        try await $0.useAdapter(adapter, $1)
      }
    }
    if options.json {
      try JSON.print(["auto": choice.word])
    } else {
      StandardError.line(adapter.map { "'auto' stands for \($0.rawValue) now." } ?? "'auto' is decided anew.")
    }
  }
}

/// The argument of `reader use`: the name of an adapter, or `auto`.
struct AdapterChoice: ExpressibleByArgument {
  /// Nil for `auto`.
  let adapter: ReaderAdapter?
  let word: String

  static let allValueStrings = ReaderAdapter.allCases.map(\.rawValue) + ["auto"]

  init?(argument: String) {
    guard Self.allValueStrings.contains(argument) else { return nil }
    adapter = ReaderAdapter(rawValue: argument)
    word = argument
  }
}
