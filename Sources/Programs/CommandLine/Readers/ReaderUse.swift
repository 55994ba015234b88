import ArgumentParser
import Fingerprint
import SecretModel

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
    let store = try await session.store()
    try await session.withPasswordAgent { () async throws(Failure) in
      try await session.asking(store, session.answers(recoveryKey: recovery.recoveryFd)) {
        try await store.useAdapter(adapter, $0)
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
