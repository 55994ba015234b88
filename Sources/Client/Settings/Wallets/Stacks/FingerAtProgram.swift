/// Whether a program takes a finger beside the password, by its PAM files.
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
    let isAlone = LoginServices.fingersAlone.contains(service)
    let arguments = ["verify"] + (isAlone ? ["serial"] : []) + ["services=\(service)"]
    return .byWhorl(
      isByCommand: own.control == (isAlone ? "[success=ok default=bad]" : "sufficient") && own.arguments == arguments)
  }

  /// How the lock screens that run as their user ask who is there, taken together.
  package var fingerAtScreen: FingerAtProgram {
    let hasPlasmaFinger = stack(of: LoginServices.plasmaFinger) != nil
    let all = LoginServices.screens.compactMap { service -> FingerAtProgram? in
      if service == "kde", hasPlasmaFinger { return nil }
      let found = finger(at: service)
      // The system's own file, whose line of fprintd is there also where fprintd is not.
      return found == .byFprintd && service == LoginServices.plasmaFinger ? .passwordAlone : found
    }.filter { $0 != .noProgram }
    for one in all { if case .faulty = one { return one } }
    let order: [FingerAtProgram] = [.passwordAlone, .byFprintd, .byWhorl(isByCommand: false)]
    return order.first { all.contains($0) } ?? all.first ?? .noProgram
  }
}
