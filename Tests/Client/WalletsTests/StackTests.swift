import ProgramDriver
import Testing

@testable import Settings

@Suite("The PAM stacks of a machine")
struct StackTests {
  /// The stacks of Debian 12, with libpam-whorl's line where its profile puts it.
  private static let debian = [
    "gdm-fingerprint": """
    #%PAM-1.0
    auth    requisite       pam_nologin.so
    auth	required	pam_succeed_if.so user != root quiet_success
    auth	required	pam_fprintd.so
    @include common-account
    session [success=ok ignore=ignore module_unknown=ignore default=bad]        pam_selinux.so close
    session required        pam_loginuid.so
    @include common-session
    -session optional       pam_gnome_keyring.so auto_start
    """,
    "gdm-password": """
    auth required pam_succeed_if.so user != root quiet_success
    @include common-auth
    @include common-session
    """,
    "lightdm": """
    auth substack system-auth
    session include system-auth
    """,
    "login": """
    auth       optional   pam_faildelay.so  delay=3000000
    @include common-auth
    @include common-session
    """,
    "sudo": """
    @include common-auth
    @include common-session-noninteractive
    """,
    "common-auth": """
    auth	[success=2 default=ignore]	pam_fprintd.so max-tries=1 timeout=10 # debug
    auth	[success=1 default=ignore]	pam_unix.so nullok \\
      try_first_pass
    """,
    "common-session": """
    session	[default=1]			pam_permit.so
    session	optional	pam_systemd.so
    session	optional	pam_whorl.so
    """,
    "common-session-noninteractive": "session optional pam_systemd.so",
    "system-auth": """
    auth sufficient pam_unix.so
    session optional pam_whorl.so
    session optional pam_systemd.so
    """,
  ]

  private func with<Value>(_ files: [String: String], _ body: (String) async throws -> Value) async throws -> Value {
    try await withFolder { folder in
      for (name, text) in files { try writeFile("\(folder)/\(name)", Array(text.utf8)) }
      return try await body(folder)
    }
  }

  @Test("PAM rules are read in order through every form of include, with file and line")
  func rules() async throws {
    try await with(Self.debian) { folder in
      let gdm = try #require(PAMStack(service: "gdm-fingerprint", in: [folder]))
      #expect(
        gdm.rules(of: .session).map(\.module) == [
          "pam_selinux.so", "pam_loginuid.so", "pam_permit.so", "pam_systemd.so", "pam_whorl.so",
          "pam_gnome_keyring.so",
        ])
      #expect(gdm.rules(of: .session)[0].control == "[success=ok ignore=ignore module_unknown=ignore default=bad]")
      #expect(gdm.rules(of: .session)[0].arguments == ["close"])
      let whorl = try #require(gdm.rules.first { $0.module == "pam_whorl.so" })
      #expect(whorl.file == "\(folder)/common-session" && whorl.line == 3)
      let auth = try #require(PAMStack(service: "login", in: [folder])).rules(of: .auth)
      #expect(auth.map(\.module) == ["pam_faildelay.so", "pam_fprintd.so", "pam_unix.so"])
      #expect(auth[1].arguments == ["max-tries=1", "timeout=10"], "a comment ends the line")
      #expect(auth[2].arguments == ["nullok", "try_first_pass"], "a backslash goes on")
      // An `include` of one kind includes no rules of other kinds.
      let lightdm = try #require(PAMStack(service: "lightdm", in: [folder]))
      #expect(lightdm.rules.map(\.module) == ["pam_unix.so", "pam_whorl.so", "pam_systemd.so"])
      #expect(PAMStack(service: "sddm", in: [folder]) == nil)
    }
  }

  @Test("a PAM stack that includes itself does not loop")
  func loop() async throws {
    try await with(["login": "session optional pam_systemd.so\n@include login"]) { folder in
      #expect(PAMStack(service: "login", in: [folder])?.rules.count == 32)
    }
  }

  @Test("the PAM file of a service is taken from the first folder that has one")
  func folders() async throws {
    try await with(["login": "session optional a.so"]) { first in
      try await with(["login": "session optional b.so", "sudo": "session optional c.so"]) { second in
        #expect(PAMStack(service: "login", in: [first, second])?.rules.map(\.module) == ["a.so"])
        #expect(PAMStack(service: "sudo", in: [first, second])?.rules.map(\.module) == ["c.so"])
      }
    }
  }

  @Test("the PAM stack of each login service is reported as right, misplaced or absent, with advice")
  func findings() async throws {
    try await with(Self.debian) { folder in
      let stacks = LoginStacks(folders: [folder], moduleIsInstalled: true)
      let found = Dictionary(uniqueKeysWithValues: stacks.findings().map { ($0.service, $0) })
      #expect(Set(found.keys) == ["gdm-fingerprint", "gdm-password", "lightdm", "login", "sudo"])
      #expect(found["gdm-fingerprint"]?.state == .good && found["gdm-fingerprint"]?.takesFinger == true)
      #expect(found["gdm-password"]?.state == .good)
      #expect(found["lightdm"]?.state == .misplaced && found["lightdm"]?.takesFinger == false)
      #expect(found["lightdm"]?.advice?.contains("line 2 of \(folder)/system-auth") == true)
      #expect(found["sudo"]?.state == .absent && found["sudo"]?.advice == nil, "off by default")
      #expect(stacks.isAnyGood && stacks.takesFinger)
    }
  }

  @Test("a PAM stack that lacks pam_whorl or pam_systemd, or could block a login, is reported")
  func missing() async throws {
    try await with([
      "login": "session optional pam_systemd.so", "sddm": "session optional pam_whorl.so",
      "greetd": "session optional pam_systemd.so\nsession required pam_whorl.so",
      "gdm-autologin": "session optional pam_systemd.so",
    ]) { folder in
      let stacks = LoginStacks(folders: [folder], moduleIsInstalled: true)
      let found = Dictionary(uniqueKeysWithValues: stacks.findings().map { ($0.service, $0) })
      #expect(found["login"]?.state == .absent && found["login"]?.advice?.contains("pam-auth-update") == true)
      #expect(found["sddm"]?.state == .misplaced && found["sddm"]?.advice?.contains("pam_systemd.so") == true)
      #expect(found["greetd"]?.state == .misplaced && found["greetd"]?.advice?.contains("optional") == true)
      #expect(found["gdm-autologin"]?.advice == nil)
      #expect(!stacks.isAnyGood && !stacks.takesFinger)
      let without = LoginStacks(folders: [folder], moduleIsInstalled: false).findings()
      #expect(without.first { $0.service == "greetd" }?.state == .notInstalled)
    }
  }

  private static let without = ["login": "session optional pam_systemd.so", "sudo": "session optional pam_unix.so"]

  private func obstacle(
    _ files: [String: String], hasModule: Bool = true, _ tools: LoginTools
  ) async throws -> LoginObstacle? {
    try await with(files) { LoginStacks(folders: [$0], moduleIsInstalled: hasModule, tools: tools).obstacle }
  }

  // What a person has who installs the packages as the README says.
  @Test("where logins do not reach Whorl yet, the command that changes it is found, and the one that takes it back")
  func command() async throws {
    let tools: LoginTools = [.pamAuthUpdate, .sudo, .apt]
    let found = try #require(try await obstacle(Self.without, tools))
    #expect(found.remedy == .command(["sudo", "pam-auth-update", "--enable", "whorl"]))
    #expect(found.words == "logins do not reach Whorl yet, so that logging in opens nothing")
    #expect(found.advice.hasPrefix("'sudo pam-auth-update --enable whorl' changes that"))
    let reached = Self.without.merging(["login": "session optional pam_systemd.so\nsession optional pam_whorl.so"]) {
      $1
    }
    #expect(try await obstacle(reached, tools) == nil)
    let ways = try await with(reached) { folder in
      [tools, [.pamAuthUpdate], []].map { LoginStacks(folders: [folder], moduleIsInstalled: true, tools: $0).wayBack }
    }
    #expect(ways == [["sudo", "pam-auth-update", "--disable", "whorl"], nil, nil])
    #expect(
      try await with(Self.without) { LoginStacks(folders: [$0], moduleIsInstalled: true, tools: tools).wayBack } == nil)
  }

  @Test("where no command of this user makes logins reach Whorl, it is said what does")
  func advice() async throws {
    func advice(_ files: [String: String], hasModule: Bool = true, _ tools: LoginTools) async throws -> String? {
      guard case .advice(let advice)? = try await obstacle(files, hasModule: hasModule, tools)?.remedy else {
        return nil
      }
      return advice
    }
    let root = try await advice(Self.without, [.pamAuthUpdate])
    #expect(root == "have root run 'pam-auth-update --enable whorl'")
    #expect(try await advice(Self.without, [.sudo])?.contains("docs/login.md") == true, "Fedora and Arch")
    // The package with the module was left out, or an upgrade has removed it, with its lines or without them.
    let lines = ["login": "session optional pam_systemd.so\nsession optional pam_whorl.so"]
    for files in [Self.without, lines] {
      let missing = try await advice(files, hasModule: false, [.sudo, .apt])
      #expect(missing?.hasSuffix("sudo apt install ./libpam-whorl_*.deb") == true, "\(missing ?? "")")
      #expect(try await advice(files, hasModule: false, [.sudo])?.contains("SYSTEM=1") == true)
    }
    let misplaced = ["login": "session optional pam_whorl.so\nsession optional pam_systemd.so"]
    #expect(try await advice(misplaced, [.pamAuthUpdate, .sudo, .apt])?.contains("move it behind") == true)
  }

  @Test("a verify line of pam_whorl has to come before the password and before another module that takes a finger")
  func verify() async throws {
    let session = "\nsession optional pam_systemd.so\nsession optional pam_whorl.so"
    let kept = "\nauth optional pam_whorl.so"
    try await with([
      "login": "auth sufficient pam_whorl.so verify\nauth required pam_unix.so" + kept + session,
      "sddm": "auth required pam_unix.so\nauth sufficient pam_whorl.so verify" + session,
      "greetd": "auth sufficient pam_fprintd.so\nauth sufficient pam_whorl.so verify\nauth required pam_unix.so"
        + session,
      "lightdm": "auth required pam_unix.so" + kept + session,
      "gdm-password": "auth sufficient pam_whorl.so verify services=login\nauth required pam_unix.so" + session,
      "sudo": "auth sufficient pam_whorl.so verify\nauth required pam_unix.so",
    ]) { folder in
      func finding(_ service: String, in folder: String) -> LoginStacks.Finding? {
        LoginStacks(folders: [folder], moduleIsInstalled: true).findings().first { $0.service == service }
      }
      #expect(finding("login", in: folder)?.advice == nil && finding("login", in: folder)?.takesFinger == true)
      #expect(finding("sddm", in: folder)?.advice?.contains("line 2 of \(folder)/sddm comes after") == true)
      #expect(finding("greetd", in: folder)?.advice?.contains("line 1 of \(folder)/greetd") == true)
      for service in ["lightdm", "gdm-password", "sudo"] {
        #expect(finding(service, in: folder)?.state == .good, "\(service)")
        #expect(finding(service, in: folder)?.takesFinger == false, "\(service): no line that acts there")
      }
      try await with(["sudo": "auth sufficient pam_whorl.so verify services=sudo\nauth required pam_unix.so"]) {
        #expect(finding("sudo", in: $0)?.takesFinger == true)
      }
    }
  }

  @Test("a PAM stack that takes a finger and never a password is found, with its file")
  func withoutPassword() async throws {
    let line = "auth sufficient pam_whorl.so verify services="
    try await with([
      "polkit-1": "\(line)polkit-1", "sudo": "\(line)sudo\n@include common-auth", "su": "auth required pam_permit.so",
      "common-auth": "auth required pam_unix.so", "gdm-fingerprint": "auth required pam_fprintd.so",
      "login": "auth required pam_fprintd.so", "kde-fingerprint": "auth required pam_fprintd.so",
      "swaylock": "\(line)swaylock",
    ]) { folder in
      let found = LoginStacks(folders: [folder], moduleIsInstalled: true).withoutPassword
      #expect(found.count == 3)
      #expect(found.map { $0.words.contains("polkit-1") } == [false, true, false])
      #expect(found.last?.words.hasPrefix("swaylock asks for a finger and never for a password") == true)
      #expect(found.allSatisfy { $0.words.contains(folder) && $0.advice.contains("line 1") })
    }
  }
}
