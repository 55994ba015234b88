import ArgumentParser
import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings

struct Init: Command {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the store.",
    discussion: """
      Asks for a passcode twice and shows the recovery key once. The passcode changes the enrolled fingers, clears a \
      lockout and stands in for a finger where an item allows it. The recovery key is the way back when the passcode \
      is forgotten: write it down, and keep it away from this machine.

      Unless the store's keys are in a TPM ('whorl status' says where they are), whoever has a copy of the store can try \
      passcodes on it without being counted: on one large machine 20 million a day. Eight random digits last for days, 12 \
      for a century. A passcode that a day finds is refused; --allow-guessable insists on it.

      Examples:
        whorl init
        whorl init --no-passcode
        whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery
      """)

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Set no passcode; the recovery key then stands in for it.")
  var noPasscode = false

  @OptionGroup var guessable: GuessablePasscodeOption

  @Option(
    help: ArgumentHelp("Write the recovery key to this descriptor instead of showing it.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func validate() throws {
    if noPasscode, options.passcodeFd != nil {
      throw ValidationError("--no-passcode and --passcode-fd exclude each other.")
    }
    if noPasscode, guessable.allowGuessable {
      throw ValidationError("--no-passcode and --allow-guessable exclude each other.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let place = try session.place()
    // Check before the passcode is typed twice. `create` makes the decision.
    if case .folder(let folder) = place, Self.holdsFiles(folder.directory) {
      throw Failure(.storeExists(folder.directory))
    }
    let output = try RecoveryKeyOutput(descriptor: recoveryFd, option: "--recovery-fd")
    let answers = session.answers()
    if noPasscode {
      try await create(place, nil, output, session)
    } else {
      try await create(place, try answers.answer(.newPasscode), output, session)
    }
    if options.json {
      try JSON.print(Made(store: place.name, passcodeSet: !noPasscode))
    } else {
      StandardError.line("The store is in \(Visible.text(place.name)). \(await next(session))")
      if !noPasscode { await warnOfGuesses(session) }
    }
  }

  /// The next step, for a person. Scripts do not need it, and should not wait for the reader.
  private func next(_ session: Session) async -> String {
    guard StandardError.isTerminal, let look = try? await FingerLook(session),
      look.count > 0
    else { return "Next: whorl enroll" }
    let them = look.count == 1 ? "it" : "them"
    return "fprintd has \(Spoken.plural(look.count, "finger")) of yours, and the store takes \(them). Next: whorl set"
  }

  /// Warns that the passcode can be guessed on a copy of the store. Errors here do not undo the new store.
  private func warnOfGuesses(_ session: Session) async {
    guard let tier = try? await session.request({ try await $0.status() }).tier, tier.isOpenToGuesses else { return }
    StandardError.line(
      "Whoever has a copy of it can try passcodes, 20 million a day on one large machine: a long passcode keeps them out."
    )
  }

  private static func holdsFiles(_ directory: String) -> Bool {
    Folder.names(in: directory)?.isEmpty == false
  }

  private func create(
    _ place: StorePlace, _ passcode: consuming SecretBytes?, _ output: RecoveryKeyOutput, _ session: Session
  ) async throws(Failure) {
    let connection = try await session.connect(to: place)
    let passcode: SharedSecret? = if let passcode { SharedSecret(passcode) } else { nil }
    let draft = try await session.withPasswordAgent { () async throws(Failure) in
      try await session.explained { () async throws(VaultError) in
        try await connection.create(place, passcode: passcode?.copy(), allowsGuessable: guessable.allowGuessable)
      }
    }
    do throws(VaultError) {
      try output.show(
        draft.recoveryKey, "The recovery key, shown this once. Write it down:", otherwise: "no store is made")
      try await connection.keep(draft.id)
    } catch {
      throw session.explained(error)
    }
  }

  private struct Made: Encodable {
    var store: String
    var passcodeSet: Bool
  }
}

extension StorePlace {
  /// The place's name for people.
  fileprivate var name: String {
    switch self {
    case .own: "the system service"
    case .folder(let folder): folder.directory
    }
  }
}
