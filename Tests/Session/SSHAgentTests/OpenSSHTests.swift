import Glibc
import ProgramDriver
import SecretModel
import Testing
import Whorl

@Suite("whorl-agent, with OpenSSH's own programs", .serialized)
struct OpenSSHTests {
  @Test("whorl-agent gives ssh-add the public keys that 'whorl ssh public' prints")
  func list() async throws {
    try await TestStore.enrolled { store in
      _ = try await store.addKey("work")
      _ = try await store.addKey("other", "--type", "ecdsa-384", "--access", "current-set")
      let shown = try await store.whorl("ssh", "public").text
      try await RunningAgent.with(store) { agent in
        let listed = try await agent.client("ssh-add", ["-L"])
        #expect(listed.text == shown)
        #expect(shown.split(separator: "\n").count == 2)
        #expect(agent.prompts.isEmpty)
      }
    }
  }

  @Test("a finger signs in to a real sshd, after a prompt with host, user and key")
  func signIn() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work")
      let server = try await SSHServer(
        "host.test", in: store.folder, authorized: String(decoding: readFile(key), as: UTF8.self))
      try await RunningAgent.with(store, [.right], knownHosts: server.knownHost) { agent in
        let ran = try await agent.client("ssh", server.arguments("echo signed in"))
        #expect(ran.text == "signed in\n", "\(ran.diagnostics) \(agent.lines)")
        #expect(agent.prompts.count == 1)
        #expect(
          agent.prompts.first
            == "whorl-agent: ssh wants to sign in to host.test as \(SSHServer.user) with the SSH key work. "
            + "Swipe the reader (virtual reader). (program: /usr/bin/ssh)", "\(agent.lines)")
      }
    }
  }

  @Test("every kind of SSH key signs in", arguments: ["ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-2048"])
  func kinds(_ type: String) async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--type", type, "--access", "none")
      let server = try await SSHServer(
        "host.test", in: store.folder, authorized: String(decoding: readFile(key), as: UTF8.self))
      try await RunningAgent.with(store) { agent in
        let ran = try await agent.client("ssh", server.arguments("echo signed in"))
        #expect(ran.text == "signed in\n", "\(ran.diagnostics) \(agent.lines)")
        guard type.hasPrefix("rsa") else { return }
        // The name of signatures with SHA-1.
        let old = try await agent.client("ssh", server.arguments("true", ["-o", "PubkeyAcceptedAlgorithms=ssh-rsa"]))
        #expect(old.status != 0)
      }
    }
  }

  @Test("an SSH prompt recognizes a hashed host name, and calls an unknown host unknown")
  func names() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work")
      let server = try await SSHServer(
        "host.test", in: store.folder, authorized: String(decoding: readFile(key), as: UTF8.self))
      let hashed = "\(store.folder)/hashed"
      try writeFile(hashed, Array(server.knownHost.utf8))
      try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-H", "-f", hashed]).run().mustSucceed()
      let text = String(decoding: try readFile(hashed), as: UTF8.self)
      #expect(text.hasPrefix("|1|"))
      try await RunningAgent.with(store, [.right], knownHosts: text) { agent in
        let ran = try await agent.client("ssh", server.arguments("true"))
        #expect(ran.status == 0, "\(ran.diagnostics)")
        #expect(agent.prompts.first?.contains("sign in to host.test as") == true, "\(agent.lines)")
      }
      try await RunningAgent.with(store, [.right]) { agent in
        let ran = try await agent.client("ssh", server.arguments("true"))
        #expect(ran.status == 0, "\(ran.diagnostics)")
        #expect(agent.prompts.first?.contains("sign in to an unknown host (SHA256:") == true, "\(agent.lines)")
      }
    }
  }

  @Test("an SSH host with a certificate is named if the certificate is valid and its authority known")
  func certificate() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none", "--host", "host.test")
      let authorized = String(decoding: try readFile(key), as: UTF8.self)
      let host = try await SSHServer(
        "host.test", in: store.folder, authorized: authorized, certificate: ["-n", "host.test"])
      let expired = try await SSHServer(
        "expired.test", in: store.folder, authorized: authorized, certificate: ["-n", "host.test", "-V", "-2h:-1h"])
      let known = (host.authority ?? "") + (expired.authority ?? "") + expired.knownHost
      try await RunningAgent.with(store, knownHosts: known) { agent in
        let there = try await agent.client("ssh", host.arguments("echo there"))
        #expect(there.text == "there\n", "\(there.diagnostics) \(agent.lines)")
        try await agent.waits { $0.contains { $0.contains("to sign in to host.test as \(SSHServer.user) with") } }
        #expect(try await agent.client("ssh", expired.arguments("true")).status != 0)
        try await agent.waits { $0.filter { $0.contains("the key is restricted to hosts") }.count == 1 }
      }
      try await RunningAgent.with(store) { agent in
        #expect(try await agent.client("ssh", host.arguments("true")).status != 0)
        try await agent.waits { $0.filter { $0.contains("the key is restricted to hosts") }.count == 1 }
      }
      let open = try await store.addKey("open", "--access", "none")
      try writeFile("\(store.folder)/expired.test.authorized", try readFile(open))
      try await RunningAgent.with(store, knownHosts: known) { agent in
        let ran = try await agent.client("ssh", expired.arguments("echo there"))
        #expect(ran.text == "there\n", "\(ran.diagnostics) \(agent.lines)")
        try await agent.waits { $0.contains { $0.contains("Signed, to sign in to an unknown host (SHA256:") } }
      }
    }
  }

  @Test("a forwarded whorl-agent shows the path: sign in to B, via A")
  func forwarded() async throws {
    try await TestStore.enrolled { store in
      let key = String(decoding: try readFile(try await store.addKey("work")), as: UTF8.self)
      let relay = try await SSHServer("relay.test", in: store.folder, authorized: key)
      let host = try await SSHServer("host.test", in: store.folder, authorized: key)
      try await RunningAgent.with(store, [.right, .right], knownHosts: relay.knownHost + host.knownHost) { agent in
        let ran = try await agent.client("ssh", relay.arguments(host.shellCommand("echo far"), ["-A"]))
        #expect(ran.text == "far\n", "\(ran.diagnostics) \(agent.lines)")
        #expect(agent.prompts.count == 2)
        #expect(agent.prompts.first?.contains("sign in to relay.test as \(SSHServer.user) with") == true)
        #expect(agent.prompts.last?.contains("sign in to host.test as \(SSHServer.user), via relay.test with") == true)
      }
    }
  }

  @Test("ssh-keygen signs a file, with a touch for each signature")
  func files() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work")
      try await RunningAgent.with(store, [.right, .right, .wrong, .wrong, .wrong]) { agent in
        let first = try await agent.sign(key)
        try first.mustSucceed()
        #expect(first.text.hasPrefix("-----BEGIN SSH SIGNATURE-----"))
        try await agent.sign(key, namespace: "git").mustSucceed()
        #expect(agent.prompts.count == 2)
        #expect(agent.prompts.first?.contains(" wants to sign a file with the SSH key work. ") == true)
        #expect(agent.prompts.last?.contains(" to sign for git with ") == true)

        let allowed = "\(store.folder)/allowed"
        try writeFile(allowed, Array("alice ".utf8) + readFile(key))
        try writeFile("\(store.folder)/signature", first.output)
        let arguments = ["-Y", "verify", "-n", "file", "-I", "alice", "-f", allowed, "-s", "\(store.folder)/signature"]
        #expect(try await agent.client("ssh-keygen", arguments, input: Array("text".utf8)).status == 0)
        #expect(try await agent.client("ssh-keygen", arguments, input: Array("other".utf8)).status != 0)

        let refused = try await agent.sign(key)
        #expect(refused.status != 0)
        #expect(refused.output.isEmpty)
      }
    }
  }

  @Test("git signs a commit with an SSH key in the vault")
  func git() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none")
      let repository = "\(store.folder)/repository"
      try writeFile("\(store.folder)/allowed", Array("alice@host.test ".utf8) + readFile(key))
      try await RunningAgent.with(store) { agent in
        let settings = [
          "-c", "user.name=alice", "-c", "user.email=alice@host.test", "-c", "gpg.format=ssh", "-c",
          "user.signingkey=\(key)", "-c", "gpg.ssh.allowedSignersFile=\(store.folder)/allowed",
        ]
        let environment = ["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"]
        for words in [
          ["init", "-q", repository],
          ["-C", repository] + settings + ["commit", "-q", "-S", "--allow-empty", "-m", "x"],
        ] {
          try await agent.client("git", words, environment: environment).mustSucceed()
        }
        let shown = try await agent.client(
          "git", ["-C", repository] + settings + ["log", "--format=%G? %GS"], environment: environment)
        #expect(shown.text == "G alice@host.test\n", "\(shown.diagnostics)")
      }
    }
  }

  @Test("a touch for an SSH key with minutes is kept for sign-ins of the same program to the same host only")
  func minutes() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work", "--minutes", "5")
      let authorized = String(decoding: try readFile(key), as: UTF8.self)
      let host = try await SSHServer("host.test", in: store.folder, authorized: authorized)
      let other = try await SSHServer("other.test", in: store.folder, authorized: authorized)
      let touches = [Touches.Touch](repeating: .right, count: 4)
      try await RunningAgent.with(store, touches, knownHosts: host.knownHost) { agent in
        for _ in 1...3 { #expect(try await agent.client("ssh", host.arguments("true")).status == 0) }
        #expect(agent.prompts.count == 1, "\(agent.lines)")
        #expect(try await agent.client("ssh", other.arguments("true")).status == 0)
        #expect(agent.prompts.count == 2)
        let copy = "\(store.folder)/ssh"
        try writeFile(copy, readFile("/usr/bin/ssh"))
        chmod(copy, 0o755)
        let copied = try await Invocation(
          program: copy, arguments: host.arguments("true"), environment: ["SSH_AUTH_SOCK": agent.socket]
        ).run()
        #expect(copied.status == 0, "\(copied.diagnostics)")
        #expect(agent.prompts.count == 3)
        // Not a sign-in, so an earlier touch does not count.
        try await agent.sign(key).mustSucceed()
        #expect(agent.prompts.count == 4)
      }
    }
  }

  @Test("a kept touch for an SSH key counts on this machine only, not on a host that the agent is forwarded to")
  func minutesElsewhere() async throws {
    try await TestStore.enrolled { store in
      let key = String(decoding: try readFile(try await store.addKey("work", "--minutes", "5")), as: UTF8.self)
      let relay = try await SSHServer("relay.test", in: store.folder, authorized: key)
      let host = try await SSHServer("host.test", in: store.folder, authorized: key)
      let touches = [Touches.Touch](repeating: .right, count: 4)
      try await RunningAgent.with(store, touches, knownHosts: relay.knownHost + host.knownHost) { agent in
        #expect(try await agent.client("ssh", host.arguments("true")).status == 0)
        for _ in 1...2 {
          let ran = try await agent.client("ssh", relay.arguments(host.shellCommand("echo far"), ["-A"]))
          #expect(ran.text == "far\n", "\(ran.diagnostics) \(agent.lines)")
        }
        let hosts = agent.prompts.map { $0.contains("via relay.test") ? "far" : "near" }
        #expect(hosts == ["near", "near", "far", "far"], "\(agent.prompts)")
      }
    }
  }

  @Test("whorl-agent runs for one command that uses it, returns the command's status, and leaves no socket")
  func command() async throws {
    try await TestStore.with { store in
      _ = try await store.addKey("work", "--access", "none")
      func run(_ words: String...) async throws -> Invocation.Result {
        try await Invocation(
          program: "whorl-agent",
          arguments: ["--socket", "\(store.folder)/own", "--store", store.directory, "--"] + words
        ).run()
      }
      let listed = try await run("ssh-add", "-L")
      #expect(listed.status == 0, "\(listed.diagnostics)")
      #expect(listed.text.hasSuffix(" work\n"))
      #expect(try await run("sh", "-c", "exit 7").status == 7)
      #expect(try await run("sh", "-c", "kill -9 $$").status == 137)
      #expect(try await run("/nonexistent").failure.contains("/nonexistent: No such file"))
      #expect(access("\(store.folder)/own", F_OK) != 0)
    }
  }

  @Test("an SSH key that is restricted to a host signs in there, and signs nothing else")
  func restricted() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none", "--host", "host.test")
      let authorized = String(decoding: try readFile(key), as: UTF8.self)
      let host = try await SSHServer("host.test", in: store.folder, authorized: authorized)
      let other = try await SSHServer("other.test", in: store.folder, authorized: authorized)
      try await RunningAgent.with(store, knownHosts: host.knownHost + other.knownHost) { agent in
        let there = try await agent.client("ssh", host.arguments("echo there"))
        #expect(there.text == "there\n", "\(there.diagnostics)")
        let elsewhere = try await agent.client("ssh", other.arguments("echo there"))
        #expect(elsewhere.status != 0)
        let file = try await agent.sign(key)
        #expect(file.status != 0)
        let far = try await agent.client("ssh", host.arguments(host.shellCommand("echo far"), ["-A"]))
        #expect(far.status != 0)
        try await agent.waits { $0.filter { $0.contains("the key is restricted to hosts") }.count == 3 }
      }
      // Nobody knows the host's name.
      try await RunningAgent.with(store) { agent in
        let unknown = try await agent.client("ssh", host.arguments("true"))
        #expect(unknown.status != 0)
      }
    }
  }

  @Test("an SSH key that is restricted to a path over several hosts signs for that path and user only")
  func ways() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey(
        "work", "--access", "none", "--host", "relay.test", "--host", "relay.test>\(SSHServer.user)@host.test")
      let authorized = String(decoding: try readFile(key), as: UTF8.self)
      let relay = try await SSHServer("relay.test", in: store.folder, authorized: authorized)
      let host = try await SSHServer("host.test", in: store.folder, authorized: authorized)
      try await RunningAgent.with(store, knownHosts: relay.knownHost + host.knownHost) { agent in
        let far = try await agent.client("ssh", relay.arguments(host.shellCommand("echo far"), ["-A"]))
        #expect(far.text == "far\n", "\(far.diagnostics) \(agent.lines)")
        let direct = try await agent.client("ssh", host.arguments("true"))
        #expect(direct.status != 0)
        // No rule allows host.test to itself, so none allows relay.test, host.test, host.test.
        let around = try await agent.client("ssh", relay.arguments(relay.shellCommand("true"), ["-A"]))
        #expect(around.status != 0)
        try await agent.waits { $0.filter { $0.contains("the key is restricted to hosts") }.count == 2 }
      }
      let library = try SecretStore.open(at: store.directory)
      let stored = try #require(try await library.items(SSHKey.search()).first)
      let rules = AttributeValue.text("relay.test,relay.test>nobody@host.test")
      try await library.update([stored.id], ItemChange(attributes: [AttributeName(rawValue: "whorl.ssh.hosts"): rules]))
      try await RunningAgent.with(store, knownHosts: relay.knownHost + host.knownHost) { agent in
        let far = try await agent.client("ssh", relay.arguments(host.shellCommand("echo far"), ["-A"]))
        #expect(far.status != 0)
        try await agent.waits { $0.contains { $0.contains("the key is restricted to hosts") } }
        #expect(agent.lines.contains { $0.contains("Signed, to sign in to relay.test as ") }, "\(agent.lines)")
      }
    }
  }

  @Test("an SSH key whose host restriction is for another user, or cannot be parsed, signs nothing")
  func otherRules() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none", "--host", "nobody@host.test")
      let authorized = String(decoding: try readFile(key), as: UTF8.self)
      let host = try await SSHServer("host.test", in: store.folder, authorized: authorized)
      try await RunningAgent.with(store, knownHosts: host.knownHost) { agent in
        #expect(try await agent.client("ssh", host.arguments("true")).status != 0)
        try await agent.waits { $0.contains { $0.contains("the key is restricted to hosts") } }
      }
      let library = try SecretStore.open(at: store.directory)
      let stored = try #require(try await library.items(SSHKey.search()).first)
      for rules in [",", "host.test,", "a>b>c"] {
        let changed = [AttributeName(rawValue: "whorl.ssh.hosts"): AttributeValue.text(rules)]
        try await library.update([stored.id], ItemChange(attributes: changed))
        try await RunningAgent.with(store, knownHosts: host.knownHost) { agent in
          let signed = try await agent.sign(key)
          #expect(signed.status != 0, "\(rules)")
        }
      }
    }
  }

  @Test("an SSH key whose lifetime is over is not listed or used, and is removed")
  func lifetime() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none", "--lifetime", "8h")
      #expect(try await store.whorl("ssh", "list").text.hasSuffix("\tevery host\tends in 8 h\n"))
      try await RunningAgent.with(store) { agent in
        try await agent.sign(key).mustSucceed()
      }
      let library = try SecretStore.open(at: store.directory)
      func endLifetime() async throws {
        let stored = try #require(try await library.items(SSHKey.search()).first)
        let past = [AttributeName(rawValue: "whorl.ssh.end"): AttributeValue.date(1)]
        try await library.update([stored.id], ItemChange(attributes: past))
      }
      try await endLifetime()
      #expect(try await store.whorl("ssh", "list").text.hasSuffix("\tended\n"))
      try await RunningAgent.with(store) { agent in
        #expect(try await agent.sign(key).status != 0)
        try await agent.waits { $0.contains { $0.contains("SSH key work is removed: its lifetime is over") } }
      }
      #expect(try await store.whorl("ssh", "list").output.isEmpty)
      _ = try await store.addKey("work", "--access", "none", "--lifetime", "8h")
      try await endLifetime()
      try await RunningAgent.with(store) { agent in
        let listed = try await agent.client("ssh-add", ["-L"])
        #expect(listed.status == 1 && listed.text == "The agent has no identities.\n", "\(listed.diagnostics)")
      }
      #expect(try await store.whorl("ssh", "list").output.isEmpty)
    }
  }

  @Test("a client of whorl-agent that disconnects ends its prompt")
  func goesAway() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work")
      try await RunningAgent.with(store) { agent in
        try await agent.signForClientThatIsKilled(key)
      }
    }
  }

  @Test("an SSH signature without a prompt does not wait for another program's prompt")
  func needsNobody() async throws {
    try await TestStore.enrolled { store in
      let gated = try await store.addKey("work", "--minutes", "5")
      let open = try await store.addKey("open", "--access", "none")
      let host = try await SSHServer(
        "host.test", in: store.folder, authorized: String(decoding: try readFile(gated), as: UTF8.self))
      try await RunningAgent.with(store, [.right], knownHosts: host.knownHost) { agent in
        #expect(try await agent.client("ssh", host.arguments("true")).status == 0)
        let waiting = try Invocation(
          program: "/usr/bin/ssh-keygen", arguments: ["-Y", "sign", "-n", "file", "-f", gated], input: [1],
          environment: ["SSH_AUTH_SOCK": agent.socket]
        ).start()
        startThread { _ = waiting.finish { _, _ in } }
        try await agent.waits { $0.contains { $0.contains(" to sign a file with the SSH key work") } }
        try await agent.sign(open).mustSucceed()
        #expect(try await agent.client("ssh", host.arguments("true")).status == 0)
        #expect(!agent.lines.contains { $0.contains("refused") })
        waiting.signal(SIGKILL)
        try await agent.waits { $0.contains { $0.contains("refused to sign a file") } }
      }
    }
  }

  @Test("whorl-agent refuses another user, even if its socket is open to everybody", .enabled(if: geteuid() == 0))
  func otherUser() async throws {
    try await TestStore.with { store in
      _ = try await store.addKey("work", "--access", "none")
      try await RunningAgent.with(store) { agent in
        chmod(store.folder, 0o755)
        chmod(agent.socket, 0o777)
        let words = ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/ssh-add", "-L"]
        let listed = try await agent.client("setpriv", words)
        #expect(listed.status != 0)
        #expect(listed.output.isEmpty)
        try await agent.waits { $0.contains { $0.contains("a program of another user is refused") } }
        #expect(try await agent.client("ssh-add", ["-L"]).text.hasPrefix("ssh-ed25519 "))
      }
    }
  }
}
