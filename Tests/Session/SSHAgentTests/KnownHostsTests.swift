import Foundation
import ProgramDriver
import SSHAgent
import Testing

@Suite("Names of hosts in known_hosts")
struct KnownHostsTests {
  private let key: [UInt8]
  private let other: [UInt8]

  init() throws { (key, other) = (try TestKey().publicKey, try TestKey().publicKey) }

  private func line(_ names: String, _ key: [UInt8]) -> String {
    "\(names) ssh-ed25519 \(Data(key).base64EncodedString())\n"
  }

  private func with<Value>(_ text: String, _ body: (URL) throws -> Value) throws -> Value {
    let file = FileManager.default.temporaryDirectory.appending(path: "whorl-known-hosts-\(UUID().uuidString)")
    try text.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file)
  }

  private func name(_ text: String, candidates: [String] = []) throws -> String? {
    try with(text) { KnownHosts(files: ["/nonexistent", $0.path]).name(ofHostWith: key, candidates: candidates) }
  }

  @Test("an SSH host's names are those of the known_hosts lines with the host's key")
  func plain() throws {
    let text = "# a comment\n\n" + line("other.test", other) + line("alias.test,host.test", key)
    #expect(try name(text) == "alias.test")
    #expect(try name(text, candidates: ["other.test", "host.test"]) == "host.test")
    #expect(try name(line("other.test", other), candidates: ["other.test"]) == nil)
  }

  @Test("an SSH host's names do not include authorities, revoked keys and patterns of known_hosts")
  func others() throws {
    #expect(try name("@cert-authority " + line("*.test", key)) == nil)
    #expect(try name("@revoked " + line("host.test", key), candidates: ["host.test"]) == nil)
    #expect(try name(line("*.test,!bad.test", key)) == nil)
    #expect(try name(line("*.test,host.test", key), candidates: ["other.test"]) == "host.test")
    #expect(try name(line("host.test,!host.test", key), candidates: ["host.test"]) == nil)
  }

  @Test("an SSH host's name is unknown if any line in any known_hosts file revokes the key")
  func revoked() throws {
    let names = line("host.test", key)
    for revoked in ["@revoked " + line("*", key), "\t@revoked\t" + line("other.test", key)] {
      #expect(try name(names + revoked, candidates: ["host.test"]) == nil)
      #expect(try name("@revoked " + line("*", other) + names, candidates: ["host.test"]) == "host.test")
      let inOther = try with(names) { first in
        try with("# a comment\r\n" + revoked.replacing("\n", with: "\r\n")) { second in
          KnownHosts(files: [first.path, second.path]).name(ofHostWith: key, candidates: [])
        }
      }
      #expect(inOther == nil)
    }
  }

  @Test("an SSH host's name is unknown if a known_hosts file is too long to read, since that could revoke the key")
  func tooLong() throws {
    let name = try with(line("host.test", key)) { first in
      try with(String(repeating: "#\n", count: 3 << 20)) { second in
        KnownHosts(files: [first.path, second.path]).name(ofHostWith: key, candidates: [])
      }
    }
    #expect(name == nil)
  }

  @Test("a hashed name in known_hosts is found if the command line contains the name")
  func hashed() throws {
    let hashed = try with(line("host.test", key) + line("[port.test]:2222", key)) { file in
      let keygen = Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-H", "-f", file.path])
      try keygen.start().finish { _, _ in }.mustSucceed()
      defer { try? FileManager.default.removeItem(atPath: "\(file.path).old") }
      return try String(contentsOf: file, encoding: .utf8)
    }
    #expect(!hashed.contains("host.test") && hashed.contains("|1|"))
    #expect(try name(hashed) == nil)
    #expect(try name(hashed, candidates: ["wrong.test", "host.test"]) == "host.test")
    let words = ["ssh", "-p", "2222", "alice@port.test", "true"]
    #expect(try name(hashed, candidates: KnownHosts(files: []).candidates(in: words)) == "[port.test]:2222")
  }

  @Test("the purpose of an SSH signature is shown without characters that could imitate a prompt")
  func words() throws {
    let text = try with(line("relay.test", other) + line("host.test", key)) { file in
      PurposeWords(KnownHosts(files: [file.path]), candidates: [])
        .text(of: .signIn(user: "alice\u{1B}[2J\n", host: key), via: [other, nil])
    }
    #expect(text == "sign in to host.test as alice2J, via relay.test and an unknown host")
    let nobody = PurposeWords(KnownHosts(files: []), candidates: [])
    #expect(nobody.text(of: .signIn(user: "bob", host: nil), via: []) == "sign in to an unknown host as bob")
    #expect(nobody.text(of: .signIn(user: "bob", host: key), via: []).hasPrefix("sign in to an unknown host (SHA256:"))
    let long = nobody.text(of: .signIn(user: String(repeating: "x", count: 100_000), host: nil), via: [])
    #expect(long.count < 200)
    #expect(nobody.text(of: .file(namespace: "git"), via: []) == "sign for git")
    let file = nobody.text(of: .file(namespace: "git"), via: [key])
    #expect(file.hasPrefix("sign for git, via an unknown host (SHA256:"))
    // Text of more than one word cannot continue the prompt's sentence.
    #expect(
      nobody.text(of: .signIn(user: "root, via a.test", host: nil), via: [])
        == "sign in to an unknown host as “root, via a.test”")
    #expect(
      nobody.text(of: .file(namespace: "mail with the SSH key test"), via: [])
        == "sign a file for “mail with the SSH key test”")
    #expect(nobody.text(of: .file(namespace: "\u{202E}"), via: []) == "sign a file for “”")
    #expect(nobody.text(of: .unknown, via: []) == "sign data of an unknown kind")
  }
}
