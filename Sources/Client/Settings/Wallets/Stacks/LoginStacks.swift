/// Checks where `pam_whorl.so` is in the PAM stacks of login programs.
package struct LoginStacks: Sendable {
  /// The result for one PAM service.
  package struct Finding: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
      /// The service reports logins to Whorl.
      case good
      /// The service is on this machine, and its stack does not have Whorl.
      case absent
      /// The stack has Whorl, at a place where it does not work.
      case misplaced
      /// The stack has Whorl, and the module is not installed.
      case notInstalled = "not-installed"
    }

    package let service: String
    package let state: State
    /// Whether the service takes a finger, by Whorl or by fprintd.
    package let takesFinger: Bool
    /// What is wrong and what to change; nil if nothing is wrong.
    package let advice: String?
  }

  private let folders: [String]
  /// Whether Whorl's module is installed.
  package let moduleIsInstalled: Bool
  let tools: LoginTools

  /// The stacks of this machine.
  package init() {
    self.init(
      folders: ["/etc/pam.d", "/usr/lib/pam.d", "/usr/share/pam.d"],
      moduleIsInstalled: Self.moduleFolders.contains { PrivateFile.exists("\($0)/\(LoginServices.module)") },
      tools: .here)
  }

  package init(folders: [String], moduleIsInstalled: Bool, tools: LoginTools = []) {
    self.folders = folders
    self.moduleIsInstalled = moduleIsInstalled
    self.tools = tools
  }

  /// Where distributions put PAM modules.
  private static let moduleFolders = ["/usr/lib", "/lib"].flatMap { folder in
    [
      "\(folder)/x86_64-linux-gnu/security", "\(folder)/aarch64-linux-gnu/security",
      "\(folder)/riscv64-linux-gnu/security", "\(folder)64/security", "\(folder)/security",
    ]
  }

  /// The stack of a service; nil if this machine has none.
  func stack(of service: String) -> PAMStack? { PAMStack(service: service, in: folders) }

  /// The results for all of the services that this machine has.
  package func findings() -> [Finding] {
    LoginServices.all.compactMap { service in
      stack(of: service).map { finding(service, $0) }
    }
  }

  /// Whether any login program reports its logins to Whorl.
  package var isAnyGood: Bool {
    findings().contains { $0.state == .good && !LoginServices.withoutSession.contains($0.service) }
  }

  /// Whether any login program takes a finger.
  package var takesFinger: Bool {
    findings().contains { $0.takesFinger && !LoginServices.withoutSession.contains($0.service) }
  }

  private func finding(_ service: String, _ stack: PAMStack) -> Finding {
    let auth = stack.rules(of: .auth)
    let finger = FingerLines(auth, of: service)
    func found(_ state: Finding.State, _ advice: String?) -> Finding {
      Finding(service: service, state: state, takesFinger: finger.takesFinger, advice: advice)
    }
    let session = stack.rules(of: .session)
    let own = session.firstIndex { $0.module == LoginServices.module }
    if LoginServices.withoutSession.contains(service) {
      guard auth.contains(where: { $0.module == LoginServices.module }) || own != nil else {
        return found(.absent, nil)
      }
      guard moduleIsInstalled else { return found(.notInstalled, Self.installAdvice) }
      return found(.good, finger.advice)
    }
    guard let own else {
      return found(
        .absent,
        "no line for the session: 'pam-auth-update --enable whorl' (Debian), or "
          + "'session optional \(LoginServices.module)' after pam_systemd.so in \(session.last?.file ?? service)")
    }
    guard moduleIsInstalled else { return found(.notInstalled, Self.installAdvice) }
    let rule = session[own]
    let place = "line \(rule.line) of \(rule.file)"
    guard let systemd = session.firstIndex(where: { ["pam_systemd.so", "pam_elogind.so"].contains($0.module) }) else {
      return found(
        .misplaced, "pam_systemd.so is missing, so that the session is not registered: add it before \(place)")
    }
    guard systemd < own else {
      return found(.misplaced, "\(place) comes before pam_systemd.so, which makes the session: move it behind")
    }
    if ["required", "requisite"].contains(rule.control) {
      return found(.misplaced, "\(place) says '\(rule.control)': write 'optional', so that no login depends on it")
    }
    return found(.good, finger.advice)
  }

  private static let installAdvice = "the line is there and \(LoginServices.module) is not: install libpam-whorl"
}
