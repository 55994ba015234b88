import Primitives
import SessionPrompts
import Settings
import Whorl

/// Makes the login password and the passcode the same again, on a desktop after a login that opened nothing because
/// they differ. Asks for both with pinentry.
struct LoginPasscodeMending {
  let change: LoginPasscodeChange
  let environment: [String]

  /// The number of tries for each prompt.
  private static let attempts = 3

  /// Opens the store with the passcode, and makes the login password the passcode if the person gives it.
  func run() async throws(Failure) {
    let passcode = try await answer(
      to: Pinentry.Question(
        heading: "Your login password is not your Whorl passcode any more, so that your login has opened nothing.",
        request: "Type the passcode to open it now."),
      otherwise: "That is not the passcode."
    ) { word throws(Failure) in try await change.opens(word) }
    guard let passcode else { throw .cancelled }
    let password = try await answer(
      to: Pinentry.Question(
        heading: "It is open.",
        request: "Type your login password, and it becomes the passcode again. Cancel leaves the two as they are.",
        field: "Login password"),
      otherwise: "That is not your login password."
    ) { word throws(Failure) in await LoginPassword.check(word.bytes) == .right }
    guard let password else { return }
    try await change.change(from: passcode, to: password)
    try await change.keep(isProven: true)
  }

  /// Asks until the answer is right. Nil if the person cancels or runs out of tries.
  private func answer(
    to question: Pinentry.Question, otherwise problem: String,
    isRight: (SharedSecret) async throws(Failure) -> Bool
  ) async throws(Failure) -> SharedSecret? {
    for attempt in 1...Self.attempts {
      guard let pinentry = Pinentry(environment: environment) else {
        throw .interactionNotAllowed(
          "the passcode is needed and pinentry is not installed", advice: "run 'whorl login open' at a terminal")
      }
      var asked = question
      asked.problem = attempt == 1 ? nil : problem
      switch await pinentry.ask(asked) {
      case .secret(let word): if try await isRight(word) { return word }
      case .cancelled, .unanswered: return nil
      case .unavailable:
        throw .interactionNotAllowed(
          "the passcode is needed and pinentry cannot ask for it", advice: "run 'whorl login open' at a terminal")
      }
    }
    return nil
  }
}
