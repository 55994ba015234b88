import Glibc
import Moving
import Primitives
import ProgramDriver
import Prompts
import SecretModel
import Testing
import VaultDriver

@Suite("What an error says to a person")
struct ExplanationTests {
  static let importErrors: [ImportError] = [
    .missing("/home/a/.password-store"), .malformed("line 3 has text after a closing quotation mark"),
    .unavailable("GnuPG is not installed"), .unreadable("is encrypted to another key"), .declined("GnuPG's question"),
    .ownService, .system("export.csv"),
  ]

  /// Every error, with a technical text in place of text from the machine.
  private static let all: [(of: String, said: Explanation)] =
    EveryError.ofVault.map { ("\($0)", $0.explanation) } + EveryError.ofReader.map { ("\($0)", $0.explanation) }
    + importErrors.map { ("\($0)", $0.explanation) }

  @Test("the explanation of an error contains no technical names, and says what to do")
  func plain() {
    for (error, said) in Self.all {
      #expect(PlainWords.foreign(in: said.what) == [], "\(error)")
      #expect(PlainWords.foreign(in: said.advice) == [], "\(error)")
      #expect(!said.what.isEmpty && !said.advice.isEmpty, "\(error)")
      #expect(!said.what.hasSuffix("."), "\(error): advice follows a colon")
    }
    #expect(Self.all.count > 100)
  }

  @Test("the explanation of an error keeps the system's own error text in its detail")
  func details() {
    let machine = EveryError.machineWords
    for error in [
      ReaderError.fprintdRefused(machine), .fprintdUnreachable(machine), .processDied(machine),
    ] {
      #expect(error.explanation.detail == machine, "\(error)")
    }
    #expect(VaultError.notUnlocked(.afterFirstUnlock).explanation.detail == "after-first-unlock")
    #expect(VaultError.notAuthorized(.denied, action: "org.whorl.own").explanation.detail == "org.whorl.own")
    #expect(VaultError.internalError(machine).explanation.detail == machine)
    #expect(VaultError.versionMismatch(machine).explanation.detail == machine)
    #expect(VaultError.tpm(.refused, detail: machine).explanation.detail == machine)
    #expect(VaultError.sessionRefused(.notPermitted).explanation.detail == "not-permitted")
  }

  @Test("an error's advice mentions whorl doctor only in the part that whorl doctor leaves out")
  func doctor() {
    for (name, explanation) in Self.all {
      #expect(!explanation.advice.isEmpty && !explanation.advice.contains("doctor"), "\(name)")
      #expect(explanation.further == nil || explanation.fullAdvice.hasSuffix(explanation.further ?? ""), "\(name)")
    }
    #expect(VaultError.serviceUnavailable("x").explanation.fullAdvice.contains("'whorl doctor'"))
  }

  @Test(
    "a full disk, a stopped service and a masked fprintd are told with the command that helps, and not as another fault"
  )
  func causes() {
    let full = VaultError.onFile("cannot write /a", ENOSPC)
    #expect(full == .diskFull("cannot write /a") && VaultError.onFile("cannot write /a", EDQUOT) == full)
    #expect(full.explanation.what == "the disk is full: cannot write /a")
    #expect(full.explanation.advice == "make room on the disk, then try again")
    #expect(VaultError.onFile("cannot write /a", EACCES) == .inputOutput("cannot write /a: Permission denied"))
    #expect(!VaultError.diskFull("x").explanation.fullAdvice.contains("permission"))
    let stopped = VaultError.serviceStopped("/run/whorl/bus: Connection refused").explanation
    #expect(stopped.advice.contains("'sudo systemctl start whorld.socket'"))
    let masked = ReaderError.fprintdUnreachable("Unit fprintd.service is masked.").explanation
    #expect(masked.advice == "'sudo systemctl unmask fprintd' switches it on" && masked.further == nil)
    #expect(ReaderError.fprintdUnreachable("timed out").explanation.advice.contains("systemctl restart fprintd"))
  }

  @Test("the error for a store with a key file does not say that a TPM keeps the store's keys")
  func keyFile() {
    let said = Explanation.noTPMForKeyFile("there is no /dev/tpmrm0")
    #expect(said.what.contains("keeps its keys in a file") && !said.what.contains("which keeps"))
    #expect(!said.advice.contains("whorl recover"))
    #expect(said.detail == "there is no /dev/tpmrm0")
    #expect(PlainWords.foreign(in: said.what + said.advice) == [])
  }

  @Test("the error for locked items names each class of items in plain words of its own")
  func classes() {
    let names = Accessibility.allCases.map(\.plainName)
    #expect(Set(names).count == Accessibility.allCases.count)
    for accessibility in Accessibility.allCases {
      let said = VaultError.notUnlocked(accessibility).explanation
      #expect(said.what.contains(accessibility.plainName))
      #expect(said.advice.contains("whorl unlock"))
      // The passcode does not open classes that are closed while the session is locked.
      #expect(said.advice.contains("unlock your session") == (accessibility != .afterFirstUnlock), "\(accessibility)")
    }
  }

  @Test("the error for a refused session advises to log in at the machine or to use --passcode-fd")
  func elsewhere() {
    for refusal in [SessionRefusal.noSession, .remote, .notPermitted] {
      let advice = VaultError.sessionRefused(refusal).explanation.advice
      #expect(advice.contains("log in at the machine") && advice.contains("--passcode-fd"), "\(refusal)")
    }
    let said = VaultError.sessionRefused(.notPermitted).explanation
    #expect(said.what == "no finger is asked for: this program does not run in your own session at this machine")
    #expect(said.advice.contains("'sudo -u', cron or ssh"))
  }

  @Test("the error for a refused authorization says which of its causes applies, such as a wrong login password")
  func permissions() {
    func said(_ problem: AuthorizationProblem, _ action: String = "org.whorl.own") -> String {
      VaultError.notAuthorized(problem, action: action).explanation.what
    }
    #expect(said(.wrongPassword) == "your login password was wrong")
    #expect(said(.wrongPassword, "org.whorl.manage") == "an administrator's password was wrong")
    #expect(Set(AuthorizationProblem.allCases.map { said($0) }).count == AuthorizationProblem.allCases.count)
  }

  @Test("PromptText says in a sentence why the passcode replaces the finger")
  func passcodeInstead() {
    #expect(
      PromptText.unavailable(.authenticationFailed) == "Three touches did not match an enrolled finger.")
    #expect(PromptText.unavailable(.sessionRefused(.locked)) == "No finger is asked for: the screen is locked.")
  }
}
