import Glibc
import ProgramDriver
import Testing

@Suite("whorl ssh")
struct KeyCommandTests {
  @Test("whorl ssh makes, lists, shows and removes keys")
  func life() async throws {
    try await TestStore.with { store in
      let made = try await store.whorl("ssh", "add", "work")
      try made.mustSucceed()
      #expect(made.text.hasPrefix("ssh-ed25519 AAAA") && made.text.hasSuffix(" work\n"))
      #expect(try await store.whorl("ssh", "add", "work").status == 73)
      try await store.whorl(
        "ssh", "add", "old", "--type", "ecdsa-521", "--access", "none", "--minutes", "5", "--host", "a.test", "--host",
        "b.test"
      )
      .mustSucceed()
      let listed = try await store.whorl("ssh", "list")
      #expect(
        listed.text
          == "work\tssh-ed25519\tpresence\tevery host\tliving\nold\tecdsa-sha2-nistp521\tnone, 5 min\ta.test, b.test\tliving\n"
      )
      #expect(try await store.whorl("ssh", "public", "work").text == made.text)
      #expect(try await store.whorl("ssh", "public", "nobody").status == 66)
      #expect(try await store.whorl("ssh", "rm", "work").status == 77)
      try await store.whorl("ssh", "rm", "work", "--yes").mustSucceed()
      #expect(try await store.whorl("ssh", "list").text.hasPrefix("old\t"))
    }
  }

  @Test(
    "whorl ssh add refuses an unreadable rule for hosts or lifetime",
    arguments: [
      ["--host", ""], ["--host", "a>b>c"], ["--host", "a b"], ["--host", "@a"], ["--lifetime", "0h"],
      ["--lifetime", "soon"], ["--lifetime", "0"], ["--lifetime", ""], ["--lifetime", "1x"], ["--lifetime", "h"],
      ["--lifetime", "1h-1"], ["--lifetime", "1 h"], ["--lifetime", "99999999999"], ["--lifetime", "9999999w"],
    ])
  func unreadable(_ options: [String]) async throws {
    try await TestStore.with { store in
      let refused = try await Invocation(arguments: store.arguments(["ssh", "add", "work"] + options)).run()
      #expect(refused.status == 64)
      #expect(refused.failure.contains("\(options[0]) takes "))
      #expect(try await store.whorl("ssh", "list").output.isEmpty)
    }
  }

  @Test(
    "whorl ssh add accepts a lifetime like ssh-add: seconds, or numbers with units",
    arguments: [
      ("10800", "3 h"), ("180m", "3 h"), ("1h30m", "90 min"), ("1H30", "61 min"), ("3d", "3 d"), ("1w", "7 d"),
      ("90s", "2 min"),
    ])
  func lifetimes(_ time: String, _ left: String) async throws {
    try await TestStore.with { store in
      try await store.whorl("ssh", "add", "work", "--lifetime", time).mustSucceed()
      let listed = try await store.whorl("ssh", "list").text
      #expect(listed.contains("ends in \(left)"), "\(listed)")
    }
  }

  @Test("whorl get exports no SSH key, whatever the key's rule, and even with the passcode")
  func stays() async throws {
    try await TestStore.enrolled { store in
      for access in ["none", "presence", "any-finger", "current-set", "passcode"] {
        let name = "key-\(access)"
        try await store.whorl("ssh", "add", name, "--access", access).mustSucceed()
        let got = try await store.unlocked("get", name, "--class", "key")
        #expect(got.status == 64, "\(access)")
        #expect(got.failure.contains("this key is used in the vault and never leaves it"), "\(got.diagnostics)")
        #expect(got.output.isEmpty)
      }
    }
  }

  @Test(
    "whorl ssh add imports keys without a passphrase, and OpenSSH accepts the imported keys' signatures",
    arguments: ["-t ed25519", "-t ecdsa -b 384", "-t rsa -b 2048", "-t rsa -b 2048 -m PEM"])
  func imports(_ options: String) async throws {
    try await TestStore.with { store in
      let file = "\(store.folder)/key"
      try await Invocation(
        program: "/usr/bin/ssh-keygen",
        arguments: ["-q", "-N", "", "-C", "x", "-f", file] + options.split(separator: " ").map(String.init)
      ).run().mustSucceed()
      let publicKey = String(decoding: try readFile("\(file).pub"), as: UTF8.self)
      let made = try await store.whorl("ssh", "add", "brought", "--import", file, "--access", "none")
      try made.mustSucceed()
      #expect(made.text.split(separator: " ").prefix(2) == publicKey.split(separator: " ").prefix(2))
      #expect(try await store.whorl("ssh", "add", "twice", "--import", file).status == 73)
      remove(file)
      try await RunningAgent.with(store) { agent in
        let signed = try await agent.sign("\(file).pub")
        try signed.mustSucceed()
        try writeFile("\(file).allowed", Array("alice \(publicKey)".utf8))
        try writeFile("\(file).sig", signed.output)
        let words = ["-Y", "verify", "-n", "file", "-I", "alice", "-f", "\(file).allowed", "-s", "\(file).sig"]
        #expect(try await agent.client("ssh-keygen", words, input: Array("text".utf8)).status == 0)
      }
    }
  }

  @Test("whorl ssh add imports a key with a passphrase, for which ssh-add asks, and nothing without the passphrase")
  func passphrase() async throws {
    try await TestStore.with { store in
      let (file, asker) = ("\(store.folder)/key", "\(store.folder)/asker")
      try await Invocation(
        program: "/usr/bin/ssh-keygen",
        arguments: ["-q", "-t", "ed25519", "-a", "1", "-N", "right words", "-C", "x", "-f", file]
      ).run().mustSucceed()
      let publicKey = String(decoding: try readFile("\(file).pub"), as: UTF8.self)
      func added(_ script: String) async throws -> Invocation.Result {
        try writeFile(asker, Array("#!/bin/sh\n\(script)\n".utf8))
        chmod(asker, 0o700)
        return try await store.whorl(
          "ssh", "add", "brought", "--import", file,
          environment: ["SSH_ASKPASS": asker, "SSH_ASKPASS_REQUIRE": "force"])
      }
      #expect(try await added("exit 1").status == 66)
      #expect(try await store.whorl("ssh", "list").output.isEmpty)
      let made = try await added("echo right words")
      try made.mustSucceed()
      #expect(made.text.split(separator: " ").prefix(2) == publicKey.split(separator: " ").prefix(2))
    }
  }

  @Test("whorl ssh add refuses a security key's file, since the key never leaves that device")
  func securityKey() async throws {
    try await TestStore.with { store in
      // A key of sk-ssh-ed25519@openssh.com with an invented handle, as ssh-keygen writes it without a passphrase.
      let file = "\(store.folder)/security-key"
      let text = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAASgAAABpzay1zc2gtZWQy
        NTUxOUBvcGVuc3NoLmNvbQAAACAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHwAAAARz
        c2g6AAAAaAAAAAcAAAAHAAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAABAgMEBQYH
        CAkKCwwNDg8QERITFBUWFxgZGhscHR4fAAAABHNzaDoBAAAABmhhbmRsZQAAAAAAAAABYwEC
        -----END OPENSSH PRIVATE KEY-----

        """
      try writeFile(file, Array(text.utf8))
      let refused = try await store.whorl("ssh", "add", "work", "--import", file)
      #expect(refused.status == 64, "\(refused.diagnostics)")
      #expect(refused.failure.contains("stands for a key on a security key or a card"), "\(refused.failure)")
      #expect(try await store.whorl("ssh", "list").output.isEmpty)
    }
  }

  @Test("whorl ssh add imports nothing from a file that is not a private key")
  func noKey() async throws {
    try await TestStore.with { store in
      try writeFile("\(store.folder)/text", Array("text".utf8))
      for file in ["text", "missing"] {
        let refused = try await store.whorl("ssh", "add", "work", "--import", "\(store.folder)/\(file)")
        #expect(refused.status == 66, "\(refused.diagnostics)")
        #expect(refused.failure.hasPrefix("whorl: ssh add: \(store.folder)/\(file): ssh-add has read no private key"))
      }
      #expect(try await store.whorl("ssh", "list").output.isEmpty)
    }
  }
}
