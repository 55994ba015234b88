import Foundation
import Glibc
import Keys
import ProgramDriver
import Prompts
import SSHAgent
import SecretModel
import Testing
import Whorl

@Suite("Certificates of the vault's keys", .serialized)
struct CertificateTests {
  private static let session: [UInt8] = Array(0..<32)

  // MARK: What is signed

  private func purpose(
    _ key: [UInt8], _ data: [UInt8], flags: UInt32 = 0
  ) throws -> SignaturePurpose {
    try SignaturePurpose(of: SignatureRequest(key: key, data: data, flags: flags), SessionBinds())
  }

  @Test("a sign-in request with an SSH certificate gives the certificate, its users and the key's algorithm")
  func signIn() async throws {
    let key = try TestKey()
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-n", "alice")
      let data = SSHAgentTests.signIn(
        session: Self.session, key: certificate, hostKey: nil, algorithm: "ssh-ed25519-cert-v01@openssh.com")
      let purpose = try purpose(certificate, data)
      #expect(purpose.target == .signIn(user: "alice", host: nil))
      #expect(purpose.algorithm == "ssh-ed25519")
      #expect(purpose.certificate?.principals == ["alice"])
      // The key itself has none.
      let plain = SSHAgentTests.signIn(session: Self.session, key: try key.publicKey, hostKey: nil)
      #expect(try self.purpose(key.publicKey, plain).certificate == nil)
    }
  }

  @Test("a request for a plain SSH key whose data contains its certificate counts as one with the certificate")
  func signInByFile() async throws {
    let key = try TestKey()
    try await TestAuthority.with { authority in
      for options in [["-n", "alice"], ["-h", "-n", "alice"]] {
        let certificate = try await authority.certificate(of: key, options)
        let data = SSHAgentTests.signIn(
          session: Self.session, key: certificate, hostKey: nil, algorithm: "ssh-ed25519-cert-v01@openssh.com")
        if options.count == 2 {
          #expect(try purpose(key.publicKey, data).certificate?.bytes == certificate)
        } else {
          #expect(throws: SignaturePurpose.Refusal.certificate) { _ = try purpose(key.publicKey, data) }
        }
      }
    }
  }

  @Test("an SSH signature request whose data contains another certificate, key or algorithm is refused")
  func otherForm() async throws {
    let key = try TestKey()
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-n", "alice")
      let other = try await authority.certificate(of: key, "-n", "bob")
      let name = "ssh-ed25519-cert-v01@openssh.com"
      let publicKey = try key.publicKey
      let stranger = try await authority.certificate(of: TestKey(), "-n", "alice")
      for (asked, named, algorithm) in [
        (certificate, publicKey, "ssh-ed25519"), (certificate, other, name), (certificate, certificate, "ssh-ed25519"),
        (publicKey, certificate, "ssh-ed25519"), (publicKey, publicKey, name), (publicKey, stranger, name),
        (certificate, stranger, name),
      ] {
        let data = SSHAgentTests.signIn(session: Self.session, key: named, hostKey: nil, algorithm: algorithm)
        #expect(throws: SignaturePurpose.Refusal.otherKey) { _ = try purpose(asked, data) }
      }
    }
  }

  @Test("an SSH request with a host certificate, a changed one or one with trailing bytes is refused")
  func wrong() async throws {
    let key = try TestKey()
    try await TestAuthority.with { authority in
      let host = try await authority.certificate(of: key, "-h", "-n", "host.test")
      let user = try await authority.certificate(of: key, "-n", "alice")
      for wrong in [host, user + [0], user.dropLast() + [user[user.count - 1] ^ 1]] {
        #expect(throws: SignaturePurpose.Refusal.certificate) { _ = try purpose(wrong, file(for: "file")) }
      }
      #expect(try purpose(user, file(for: "file")).target == .file(namespace: "file"))
    }
  }

  // MARK: What the prompt says

  private func words(_ options: String..., name: String = "laptop") async throws -> String {
    try await TestAuthority.with { authority in
      let file = "\(authority.path)-user"
      let publicKey = Data(try TestKey().publicKey).base64EncodedString()
      try writeFile("\(file).pub", Array("ssh-ed25519 \(publicKey)\n".utf8))
      // The last -I counts.
      try await authority.certify(file, ["-I", name] + options)
      let line = String(decoding: try readFile("\(file)-cert.pub"), as: UTF8.self)
      let bytes = try #require(Data(base64Encoded: String(line.split(separator: " ")[1])))
      let shown = try await Invocation(
        program: "/usr/bin/ssh-keygen", arguments: ["-l", "-f", "\(authority.path).pub"]
      ).run()
      let fingerprint = try #require(shown.text.split(separator: " ").first { $0.hasPrefix("SHA256:") })
      let text = CertificateWords.text(of: try SSHCertificate(Array(bytes)), at: UInt64(Date.now.timeIntervalSince1970))
      #expect(text.contains(fingerprint))
      return text.replacing(fingerprint, with: "SHA256:…")
    }
  }

  @Test("a prompt shows the SSH certificate, its users and authority, and says if it is not valid")
  func shown() async throws {
    #expect(try await words("-n", "alice") == "the certificate “laptop” for “alice”, signed by SHA256:…")
    #expect(
      try await words("-n", "alice,bob") == "the certificate “laptop” for “alice”, “bob”, signed by SHA256:…")
    #expect(
      try await words("-n", "a,b,c,d,e") == "the certificate “laptop” for “a”, “b”, “c” and 2 more, signed by SHA256:…")
    #expect(try await words() == "the certificate “laptop” for no named user, signed by SHA256:…")
    #expect(
      try await words("-n", "alice", "-V", "-2h:-1h")
        == "the certificate “laptop” for “alice”, signed by SHA256:…, which has expired")
    #expect(
      try await words("-n", "alice", "-V", "+1h:+2h")
        == "the certificate “laptop” for “alice”, signed by SHA256:…, which is not valid yet")
  }

  @Test("names in an SSH certificate cannot imitate a prompt, and are shortened")
  func imitation() async throws {
    #expect(
      try await words("-n", "alice) [“bob”]\u{202E}", name: "x” for root (asked by \"ssh\")\n\u{2066}<b>")
        == "the certificate “x for root asked by ssh b” for “alice bob”, signed by SHA256:…")
    let long = String(repeating: "n", count: 80)
    let cut = String(repeating: "n", count: 32) + "…" + String(repeating: "n", count: 31)
    #expect(
      try await words("-n", long, name: long) == "the certificate “\(cut)” for “\(cut)”, signed by SHA256:…")
    #expect(try await words("-n", "alice", name: "“”") == "the certificate for “alice”, signed by SHA256:…")
    // A comma ends a name for ssh-keygen, but not in a certificate.
    let authority = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
    for (name, shown) in [
      ("alice\u{FF0C} signed by \(authority)", "alice\u{FF0C} signed by \(authority)"),
      ("root and 2 more", "root and 2 more"), ("\u{202E}", "a user without a name"), ("”", "a user without a name"),
    ] {
      let cut = PromptLabel.text(shown)
      #expect(try await words("-n", name) == "the certificate “laptop” for “\(cut)”, signed by SHA256:…")
    }
  }

  // MARK: OpenSSH

  /// A server that accepts keys certified by the authority, and the file with a certificate of the key.
  private func certified(
    _ key: String, in store: TestStore, _ options: String...
  ) async throws -> (server: SSHServer, file: String) {
    let authority = try await TestAuthority(at: "\(store.folder)/authority")
    let name = String(key.dropLast(".pub".count))
    try await authority.certify(name, ["-n", SSHServer.user] + options)
    let server = try await SSHServer(
      "host.test", in: store.folder, authorized: "cert-authority \(authority.publicKey)\n")
    return (server, "\(name)-cert.pub")
  }

  @Test(
    "an SSH certificate's file signs in with the key in the vault, for every kind of key",
    arguments: ["ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-2048"])
  func fileOfCertificate(_ type: String) async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--type", type, "--access", "none")
      let (server, file) = try await certified(key, in: store)
      try await RunningAgent.with(store, knownHosts: server.knownHost) { agent in
        #expect(try await agent.client("ssh", server.arguments("true")).status != 0)
        let ran = try await agent.client(
          "ssh", server.arguments("echo signed in", ["-o", "CertificateFile=\(file)", "-i", key]))
        #expect(ran.text == "signed in\n", "\(ran.diagnostics) \(agent.lines)")
        try await agent.waits {
          $0.contains {
            $0.contains(
              "to sign in to host.test as \(SSHServer.user) with the SSH key work and the certificate “id” for “\(SSHServer.user)”, signed by SHA256:"
            )
          }
        }
      }
    }
  }

  @Test("an SSH certificate that is stored with its key is listed, signs in, and is removed with --remove")
  func kept() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none")
      let (server, file) = try await certified(key, in: store)
      try await store.whorl("ssh", "certificate", "work", file).mustSucceed()
      let line = String(decoding: try readFile(file), as: UTF8.self).split(separator: " ").prefix(2)
        .joined(separator: " ")
      #expect(try await store.whorl("ssh", "list").text.hasPrefix("work\tssh-ed25519, certified\t"))
      #expect(try await store.whorl("ssh", "list", "--json").text.contains("ssh-ed25519-cert-v01@openssh.com"))
      try await RunningAgent.with(store, knownHosts: server.knownHost) { agent in
        let listed = try await agent.client("ssh-add", ["-L"])
        #expect(listed.text.split(separator: "\n").last == "\(line) work")
        #expect(listed.text.split(separator: "\n").count == 2)
        let ran = try await agent.client("ssh", server.arguments("echo signed in"))
        #expect(ran.text == "signed in\n", "\(ran.diagnostics) \(agent.lines)")
      }
      try await store.whorl("ssh", "certificate", "work", "--remove").mustSucceed()
      try await RunningAgent.with(store) { agent in
        let listed = try await agent.client("ssh-add", ["-L"])
        #expect(listed.text.split(separator: "\n").count == 1)
      }
    }
  }

  @Test("an expired SSH certificate is used, since the server refuses it, and the prompt says that it has expired")
  func expired() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work")
      let (server, file) = try await certified(key, in: store, "-V", "-2h:-1h")
      try await RunningAgent.with(store, [.right, .right], knownHosts: server.knownHost) { agent in
        try await agent.sign(file).mustSucceed()
        #expect(agent.prompts.count == 1)
        #expect(agent.prompts.first?.contains(", which has expired. Swipe the reader ") == true, "\(agent.prompts)")
        let refused = try await agent.client(
          "ssh", server.arguments("true", ["-o", "CertificateFile=\(file)", "-i", key]))
        #expect(refused.status != 0)
      }
    }
  }

  @Test("a touch that is kept for an SSH key is not used for its certificate")
  func touches() async throws {
    try await TestStore.enrolled { store in
      let key = try await store.addKey("work", "--minutes", "5")
      let (server, file) = try await certified(key, in: store)
      let authorized = "\(store.folder)/host.test.authorized"
      try writeFile(authorized, try readFile(authorized) + readFile(key))
      try await RunningAgent.with(store, [.right, .right], knownHosts: server.knownHost) { agent in
        for _ in 1...2 { try await agent.client("ssh", server.arguments("true")).mustSucceed() }
        #expect(agent.prompts.count == 1, "\(agent.lines)")
        let words = ["-o", "CertificateFile=\(file)", "-o", "IdentitiesOnly=yes", "-i", key]
        for _ in 1...2 { try await agent.client("ssh", server.arguments("true", words)).mustSucceed() }
        #expect(agent.prompts.count == 2, "\(agent.lines)")
        #expect(agent.prompts.last?.contains(" and the certificate “id” for ") == true)
      }
    }
  }

  @Test("whorl ssh certificate stores nothing but a user certificate of the key, and says so")
  func notKept() async throws {
    try await TestStore.with { store in
      let key = try await store.addKey("work", "--access", "none")
      let other = try await store.addKey("other", "--access", "none")
      let (_, file) = try await certified(other, in: store)
      let authority = try await TestAuthority(at: "\(store.folder)/second")
      try await authority.certify(String(key.dropLast(4)), ["-h", "-n", "host.test"])
      let text = "\(store.folder)/text"
      try writeFile(text, Array("no certificate".utf8))
      for wrong in [file, key, text, "\(key.dropLast(4))-cert.pub"] {
        let refused = try await store.whorl("ssh", "certificate", "work", wrong)
        #expect(refused.status == 65, "\(refused.diagnostics)")
        #expect(refused.failure.contains("\(wrong): not a user's certificate of the SSH key work"))
      }
      #expect(try await store.whorl("ssh", "certificate", "work", "/nonexistent").status == 66)
      #expect(try await store.whorl("ssh", "certificate", "work").status == 64)
      #expect(try await store.whorl("ssh", "certificate", "work", file, "--remove").status == 64)
      #expect(try await !store.whorl("ssh", "list").text.contains("certified"))
    }
  }

  @Test("whorl ssh certificate --remove also removes stored data that is not a certificate of the key")
  func removed() async throws {
    try await TestStore.with { store in
      _ = try await store.addKey("work", "--access", "none")
      let configuration = "\(store.folder)/in-process.json"
      try writeFile(configuration, Array(#"{"vaultProgram":"\#(try Programs.path("whorld"))"}"#.utf8))
      let opened = try SecretStore.open(at: store.directory, reader: "auto", configuration: configuration)
      func key() async throws -> Item { try #require(try await opened.items(SSHKey.search()).first) }
      func isKept() async throws -> Bool {
        try await key().attributes[AttributeName(rawValue: "whorl.ssh.certificate")] != nil
      }
      try await opened.update([key().id], SSHKey.change(certificate: [1, 2, 3]))
      #expect(try await isKept())
      #expect(try await !store.whorl("ssh", "list").text.contains("certified"))
      try await store.whorl("ssh", "certificate", "work", "--remove").mustSucceed()
      #expect(try await !isKept())
    }
  }

  @Test(
    "whorl ssh add ignores a host certificate beside an imported key, and says so",
    arguments: ["-t ed25519", "-t ecdsa -b 384", "-t rsa -b 2048"])
  func hostsCertificate(_ options: String) async throws {
    try await TestStore.with { store in
      let file = "\(store.folder)/key"
      try await Invocation(
        program: "/usr/bin/ssh-keygen",
        arguments: ["-q", "-N", "", "-C", "x", "-f", file] + options.split(separator: " ").map(String.init)
      ).run().mustSucceed()
      let authority = try await TestAuthority(at: "\(store.folder)/authority")
      try await authority.certify(file, ["-h", "-n", "host.test"])
      let added = try await store.whorl("ssh", "add", "host", "--import", file, "--access", "none")
      try added.mustSucceed()
      #expect(added.diagnostics.contains("The certificate beside \(file) is not kept"), "\(added.diagnostics)")
      #expect(try await !store.whorl("ssh", "list").text.contains("certified"))
      try await store.whorl("ssh", "rm", "host", "--yes").mustSucceed()
      // With a user's certificate the same key signs in, without a message.
      remove("\(file)-cert.pub")
      try await authority.certify(file, ["-n", "alice"])
      let user = try await store.whorl("ssh", "add", "user", "--import", file, "--access", "none")
      #expect(!user.diagnostics.contains("is not kept"), "\(user.diagnostics)")
      #expect(try await store.whorl("ssh", "list").text.contains(", certified\t"))
    }
  }

  @Test("whorl ssh add also imports the certificate beside the file of an imported key")
  func brought() async throws {
    try await TestStore.with { store in
      let file = "\(store.folder)/key"
      try await Invocation(
        program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-C", "x", "-f", file]
      ).run().mustSucceed()
      try await TestAuthority(at: "\(store.folder)/authority").certify(file, ["-n", "alice"])
      try await store.whorl("ssh", "add", "brought", "--import", file, "--access", "none").mustSucceed()
      #expect(try await store.whorl("ssh", "list").text.hasPrefix("brought\tssh-ed25519, certified\t"))
      try await RunningAgent.with(store) { agent in
        try await agent.sign("\(file)-cert.pub").mustSucceed()
      }
    }
  }
}
