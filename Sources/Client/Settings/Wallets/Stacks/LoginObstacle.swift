/// Why no login of a machine reaches Whorl, and what changes that.
package struct LoginObstacle: Sendable, Hashable {
  /// What changes it.
  package enum Remedy: Sendable, Hashable {
    /// A command, which asks for an administrator's password.
    case command([String])
    /// What an administrator does, in words that begin with a verb.
    case advice(String)
  }

  /// What is missing, for a person.
  package let words: String
  package let remedy: Remedy

  /// The remedy in one line.
  package var advice: String {
    switch remedy {
    case .command(let words): "'\(words.joined(separator: " "))' changes that, for everybody who uses this machine"
    case .advice(let advice): advice
    }
  }
}

extension LoginStacks {
  /// Why no login reaches Whorl; nil if at least one does.
  package var obstacle: LoginObstacle? {
    let found = findings().filter { !LoginServices.withoutSession.contains($0.service) }
    guard !found.contains(where: { $0.state == .good }) else { return nil }
    func obstacle(_ words: String, _ remedy: LoginObstacle.Remedy) -> LoginObstacle {
      LoginObstacle(words: "\(words), so that logging in opens nothing", remedy: remedy)
    }
    guard moduleIsInstalled else {
      return obstacle(
        "the part of Whorl that logins run is not installed",
        .advice(
          tools.contains(.apt)
            ? "install it, in the folder with the packages of Whorl: sudo apt install ./libpam-whorl_*.deb"
            : "install Whorl again, with that part: sudo make install SYSTEM=1"))
    }
    if let advice = found.first(where: { $0.state == .misplaced })?.advice {
      return obstacle("logins have Whorl's line in a place where it does nothing", .advice("correct it: \(advice)"))
    }
    let words = "logins do not reach Whorl yet"
    guard tools.contains(.pamAuthUpdate) else {
      return obstacle(words, .advice("add Whorl's lines to the files in /etc/pam.d, as its page docs/login.md shows"))
    }
    return obstacle(
      words,
      tools.contains(.sudo)
        ? .command(["sudo"] + Self.lines("--enable")) : .advice("have root run 'pam-auth-update --enable whorl'"))
  }

  /// The command of an administrator that takes Whorl's lines out of the logins again; nil if they are not there, or were
  /// written by hand.
  package var wayBack: [String]? {
    isAnyGood && tools.isSuperset(of: [.pamAuthUpdate, .sudo]) ? ["sudo"] + Self.lines("--disable") : nil
  }

  private static func lines(_ option: String) -> [String] { ["pam-auth-update", option, "whorl"] }
}
