/// The lines of a service's stack that ask for a finger, and for a password.
struct FingerLines {
  private static let fprintd: Set<String> = ["pam_fprintd.so", "pam_fprintd_grosshack.so"]
  private static let passwords: Set<String> = [
    "pam_unix.so", "pam_sss.so", "pam_ldap.so", "pam_krb5.so", "pam_winbind.so", "pam_systemd_home.so",
  ]

  /// Whorl's line that asks for a finger.
  private let own: (index: Int, rule: PAMStack.Rule)?
  private let fprintd: PAMStack.Rule?
  private let firstPassword: Int?

  /// - Parameter auth: the rules of the service's auth phase, in their order.
  init(_ auth: [PAMStack.Rule], of service: String) {
    let own = auth.firstIndex { $0.asksForFinger(in: service) }
    self.own = own.map { ($0, auth[$0]) }
    fprintd = auth.first { Self.fprintd.contains($0.module) }
    firstPassword = auth.firstIndex { Self.passwords.contains($0.module) }
  }

  /// The line that asks for a finger, where none asks for a password.
  var onlyFinger: PAMStack.Rule? { firstPassword == nil ? own?.rule ?? fprintd : nil }

  /// Whorl's line that asks for a finger.
  var ownRule: PAMStack.Rule? { own?.rule }

  var takesFinger: Bool { own != nil || fprintd != nil }

  /// What is wrong with Whorl's own line; nil if it is right or missing.
  var advice: String? {
    guard let own else { return nil }
    let place = "line \(own.rule.line) of \(own.rule.file)"
    if let fprintd {
      return "\(place) asks for a finger, and so does line \(fprintd.line) of \(fprintd.file): remove one of them"
    }
    if let firstPassword, firstPassword < own.index {
      return "\(place) comes after the line that asks for the password, and asks for no finger then: move it before"
    }
    return nil
  }
}

extension PAMStack.Rule {
  /// Whether this line is Whorl's, asks for a finger and acts in this service.
  fileprivate func asksForFinger(in service: String) -> Bool {
    guard module == LoginServices.module, arguments.contains("verify") else { return false }
    guard let named = arguments.last(where: { $0.hasPrefix("services=") }) else {
      return LoginServices.all.contains(service) && !LoginServices.withoutSession.contains(service)
    }
    return named.dropFirst("services=".count).split(separator: ",").contains(service[...])
  }
}
