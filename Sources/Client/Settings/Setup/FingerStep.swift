internal import Processes

/// A step of the setup that has a program take a finger or the password. It changes PAM files, for everybody who uses the
/// machine.
package struct FingerStep: Sendable {
  package let step: SetupStep
  /// How the program asks now.
  private let look: @Sendable (LoginStacks) -> FingerAtProgram
  private let question: String

  package static let all = [
    FingerStep(
      step: .sudo, look: { $0.finger(at: "sudo") },
      question: "Have sudo take a finger or the password, whichever comes first? It changes /etc/pam.d/sudo for "
        + "everybody who uses this computer, and asks for an administrator's password."),
    FingerStep(
      step: .polkit, look: { $0.finger(at: "polkit-1") },
      question: "Have the dialogs that ask for an administrator take a finger or the password, whichever comes first? "
        + "It changes /etc/pam.d/polkit-1 for everybody who uses this computer, and asks for an administrator's "
        + "password."),
    FingerStep(
      step: .screen, look: { $0.fingerAtScreen },
      question: "Have the lock screen take a finger or the password? In Plasma before 6.4 an unlock by password then "
        + "waits for the finger, up to ten seconds. It changes its files in /etc/pam.d for everybody who uses this "
        + "computer, and asks for an administrator's password."),
  ]

  package enum Change: String, Sendable {
    case enable, disable
  }

  /// The command by which root changes the PAM file of the step.
  package static func command(to change: Change, _ step: SetupStep) throws(Failure) -> [String] {
    guard let path = HelperPlaces.fingerLogin.locate() else {
      throw Failure(
        .unavailable, "the part of Whorl that changes logins is not installed",
        advice: "its page docs/login-administration.md shows the lines to write by hand")
    }
    do throws(HelperProgramError) {
      return [try HelperProgram(at: path).path, change.rawValue, step.rawValue]
    } catch {
      throw Failure(.refused, error.words, advice: "install Whorl again")
    }
  }

  /// What was found; nil if the machine does not have the program, or only an administrator could change what is found.
  ///
  /// - Parameters:
  ///   - hasFinger: whether the store has one.
  ///   - isAdministrator: whether the user may change the machine.
  ///   - canChange: whether the program that changes the PAM file is installed.
  package func finding(
    in stacks: LoginStacks, hasFinger: Bool,
    isAdministrator: Bool = Administrators.haveThisUser, canChange: Bool = HelperPlaces.fingerLogin.locate() != nil
  ) -> Finding? {
    let undo = ["whorl", "login", "disable", step.rawValue]
    switch look(stacks) {
    case .noProgram: return nil
    case .byFprintd:
      let words = "takes a finger by fprintd, and then the password"
      return .note(step, "\(words); docs/login-administration.md says how to have both at once")
    case .faulty(let advice): return .faulty(step, "takes a finger in a way that does not work", advice, undo: undo)
    case .byWhorl(let isByCommand):
      let words = "takes a finger or the password"
      guard isByCommand else { return .done(step, words, undo: nil) }
      return isAdministrator ? .done(step, words, undo: undo) : .done(step, words, undoneByAdministrator: undo)
    case .passwordAlone:
      guard isAdministrator, canChange, stacks.moduleIsInstalled else { return nil }
      guard hasFinger else { return .later(step, "after a finger is enrolled") }
      let offer = SetupOffer(question: question, command: ["whorl", "login", "enable", step.rawValue])
      return .open(step, "takes the password alone", offer, undo: undo)
    }
  }
}
