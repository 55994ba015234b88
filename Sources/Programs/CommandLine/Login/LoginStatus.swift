import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings

struct LoginStatus: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what a login opens, and what is missing for it.",
    discussion: """
      What is opened, whether your login password opens the store, how the login keyring stands, and whether Whorl's \
      PAM module is in the right place of each program by which people log in. It changes nothing, and sends no secret anywhere.

      Examples:
        whorl login status
        whorl login status --json
      """)

  static var spoken: String { "login status" }

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let survey = try await LoginSurvey(session)
    if options.json {
      return try JSON.print(
        Report(
          entries: survey.entries, passcode: survey.passcode.map(PasscodeReport.init), keyring: survey.keyring,
          kwallet: survey.kwallet, logins: survey.stacks.map(StackReport.init)))
    }
    var lines = survey.findings.flatMap { finding in
      [(finding.subject, finding.words)] + (finding.advice.map { [("problem", $0)] } ?? [])
    }
    lines += survey.programs.map { program in
      (program.subject, [program.words, program.advice].compactMap { $0 }.joined(separator: ": "))
    }
    if survey.programs.isEmpty { lines.append(("logins", "none of the known programs has a file in /etc/pam.d")) }
    try StandardOutput.columns(lines)
  }

  private struct Report: Encodable {
    var entries: [LoginRow]
    var passcode: PasscodeReport?
    var keyring: KeyringState
    var kwallet: KWalletState?
    var logins: [StackReport]
  }
}

/// Whether the login password is the passcode.
private struct PasscodeReport: Encodable {
  var isLoginPassword: Bool?
  /// When a difference was found, in seconds since 1970.
  var differsSince: Int64?
  var problem: String?

  init(_ state: LoginPasscode) {
    switch state {
    case .same: isLoginPassword = true
    case .unproven: break
    case .different(let since): (isLoginPassword, differsSince) = (false, since)
    }
    problem = state.problem?.sentence
  }
}

private struct StackReport: Encodable {
  var service: String
  var state: String
  var takesFinger: Bool
  var advice: String?

  init(_ finding: LoginStacks.Finding) {
    service = finding.service
    state = finding.state.rawValue
    takesFinger = finding.takesFinger
    advice = finding.advice
  }
}
