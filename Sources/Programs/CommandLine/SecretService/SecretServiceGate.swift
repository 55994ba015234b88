import ArgumentParser
import CommandBase
internal import SecretModel
import Settings

struct SecretServiceGate: Command {
  static let configuration = CommandConfiguration(
    commandName: "gate",
    abstract: "Give out secrets of the Secret Service only under a rule.",
    discussion: """
      Sets the rule of items, of a collection (its items, and those that are stored in it from now on), or of a program \
      (what it stores from now on, in place of the collection's rule, and whatever it reads). The rules are those of \
      'whorl set'; without --access a finger, or the passcode in its place. A change asks for what the old rule asks \
      for. It shows what will change and asks first.

      A program reads such a secret after a touch, which holds for ten seconds, since programs read a secret more than \
      once. --once-per-session lets the first touch hold for that program until the service ends, such as at your logout.

      Where an item was copied from another program that still has it, programs can read it there all the same; gate \
      says so. It also says where another program is still the Secret Service of this session.

      Examples:
        whorl secret-service gate Bank
        whorl secret-service gate --collection login --access presence
        whorl secret-service gate --program /usr/bin/evolution --access presence
        whorl secret-service gate 'Password for alice' --access current-set
        whorl secret-service gate --attribute user=alice --access any-finger
      """)

  static let spoken = "secret-service gate"

  @OptionGroup var options: GlobalOptions
  @OptionGroup var target: SecretServiceTarget<AnyProgram>
  @OptionGroup var consent: SecretServiceConsent

  @Option(help: "What releases the secrets.")
  var access = AccessControl.Constraint.presence

  @Flag(help: "Ask a program only for its first read in a session.")
  var oncePerSession = false

  func validate() throws {
    if access == .none, oncePerSession { throw ValidationError("--once-per-session goes with a rule that asks.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    try await consent.change(target, to: access, oncePerSession ? .session : .brief, session)
  }
}

struct SecretServiceUngate: Command {
  static let configuration = CommandConfiguration(
    commandName: "ungate",
    abstract: "Give out secrets of the Secret Service without asking.",
    discussion: """
      Takes back what 'whorl secret-service gate' has set: items, and those that are stored in a collection from now on, \
      open with the session. What a program stores from now on gets the rule of its collection. Each item asks once \
      more for what its rule asks for. It shows what will change and asks first.

      Examples:
        whorl secret-service ungate Bank
        whorl secret-service ungate --collection login
        whorl secret-service ungate --program /usr/bin/evolution
      """)

  static let spoken = "secret-service ungate"

  @OptionGroup var options: GlobalOptions
  @OptionGroup var target: SecretServiceTarget<ProgramWithRule>
  @OptionGroup var consent: SecretServiceConsent

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    try await consent.change(target, to: nil, .brief, session)
  }
}

/// The options of a command that shows what it will do, and asks.
struct SecretServiceConsent: ParsableArguments {
  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask whether to go on.")
  var yes = false

  fileprivate func change<Programs>(
    _ target: SecretServiceTarget<Programs>, to access: AccessControl.Constraint?, _ grant: SecretServiceItem.Grant,
    _ session: Session
  ) async throws(Failure) {
    let contents = try await session.request { try await SecretServiceContents(of: $0) }
    let change = SecretServiceRuleChange(try target.named(in: contents), to: access, grant)
    let dialogue = CommandDialogue(session, of: access == nil ? SecretServiceUngate.spoken : SecretServiceGate.spoken)
    if !dryRun, !change.isEmpty {
      if !yes {
        for each in change.progress(isDone: false) { dialogue.say(each) }
        try dialogue.confirm("Go on?", assent: "--yes")
      }
      try await change.carryOut(dialogue)
    }
    if session.options.json { return try JSON.print(Report(change, dryRun: dryRun)) }
    for each in change.progress(isDone: !dryRun) + change.progressOfOriginals { dialogue.tell(each) }
    // Such as GNOME Keyring, which ends ten seconds after a logout, and keeps running if the next login is sooner.
    if access != nil, !dryRun, !change.isEmpty, let holder = try? await SecretServiceHolderReport.current(), !holder.own
    {
      dialogue.tell(
        .hint(
          "In this session programs still have their secrets from \(holder.words), without a finger. Whorl answers them "
            + "after: whorl secret-service enable --now"))
    }
  }

  private struct Report: Encodable {
    var dryRun: Bool
    /// The new rule.
    var access: String
    var oncePerSession: Bool
    /// The items that are changed, as they were before.
    var items: [SecretServiceItemRow]
    /// How many of the named items have the rule already.
    var unchanged: Int
    /// The collection whose new items get the rule.
    var collection: String?
    /// The program whose new items get the rule.
    var program: String?

    init(_ change: SecretServiceRuleChange, dryRun: Bool) {
      self.dryRun = dryRun
      (access, oncePerSession) = (change.access.rawValue, change.grant == .session)
      (items, unchanged) = (change.items.map(SecretServiceItemRow.init), change.unchanged)
      let folder = change.changedFolder
      collection = folder?.kind == .collection ? folder?.name : nil
      program = folder?.kind == .program ? folder?.name : nil
    }
  }
}
