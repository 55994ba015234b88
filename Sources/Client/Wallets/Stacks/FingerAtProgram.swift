/// Whether a program of root takes a finger beside the password, by its PAM files.
package enum FingerAtProgram: Sendable, Hashable {
  /// This machine does not have the program.
  case noProgram
  case passwordAlone
  /// Whorl's line asks for a finger; `isByCommand`: the one that `whorl login enable` writes, and `disable` takes out.
  case byWhorl(isByCommand: Bool)
  case byFprintd
  /// Whorl's line is there, and does not work as it should; the advice says what to change.
  case faulty(advice: String)
}

extension LoginStacks {
  /// How a program asks who is there; its PAM service is `sudo` or `polkit-1`.
  package func finger(at service: String) -> FingerAtProgram {
    guard let stack = stack(of: service) else { return .noProgram }
    let lines = FingerLines(stack.rules(of: .auth), of: service)
    guard let own = lines.ownRule else { return lines.takesFinger ? .byFprintd : .passwordAlone }
    if let advice = lines.advice { return .faulty(advice: advice) }
    return .byWhorl(isByCommand: own.control == "sufficient" && own.arguments == ["verify", "services=\(service)"])
  }
}
