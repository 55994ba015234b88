import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings

struct Doctor: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check everything and say what to do.",
    discussion: """
      Checks the store's directory and data, the reader process, and whether the reader can be opened (it is claimed \
      for a moment). Each line is ok, warn or fail; the exit status is that of the first fail.

      Examples:
        whorl doctor
        whorl doctor --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let findings = await Checkup(session).findings()
    if options.json {
      try JSON.print(["checks": findings.map(Check.init)])
    } else {
      for finding in findings { try StandardOutput.line(Visible.text(finding.checkLine)) }
    }
    let failures = findings.compactMap(\.failure)
    guard let worst = failures.first else { return }
    throw Failure(
      worst.status, "\(Spoken.plural(failures.count, "check")) failed", name: worst.name, advice: worst.what)
  }

  /// A finding in JSON.
  private struct Check: Encodable {
    let check: String
    let result: String
    let detail: String
    let advice: String?

    init(_ finding: Finding) {
      (check, result, detail, advice) = (finding.subject, finding.result, finding.words, finding.advice)
    }
  }
}

extension Finding {
  fileprivate var result: String {
    switch state {
    case .faulty: "warn"
    case .failed: "fail"
    case .good, .open, .later, .note: "ok"
    }
  }

  fileprivate var checkLine: String {
    "\(result)\(String(repeating: " ", count: 4 - result.count))  \(subject): \(words)\(advice.map { ": \($0)" } ?? "")"
  }
}
