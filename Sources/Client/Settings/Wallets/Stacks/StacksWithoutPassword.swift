extension LoginStacks {
  /// The services at which people authenticate beside the logins.
  private static let others = ["su", "sudo-i", "polkit-1", "doas"]
  /// Which services take a finger and no password, with what changes that. Such a stack shuts out everybody whose finger is
  /// not read: a file in `/etc/pam.d` hides the system's own of the same name, and the password with it.
  package var withoutPassword: [LoginObstacle] {
    (LoginServices.all + Self.others + LoginServices.screens).compactMap { service in
      guard !LoginServices.fingersAlone.contains(service), let stack = stack(of: service) else { return nil }
      let auth = stack.rules(of: .auth)
      guard let line = FingerLines(auth, of: service).onlyFinger else { return nil }
      return LoginObstacle(
        words: "\(service) asks for a finger and never for a password (\(line.file))",
        remedy: .advice(
          "put the lines of the system's own file behind line \(line.line): see docs/login-administration.md"
        ))
    }
  }
}
