import Foundation
import ProgramDriver
import SSHAgent
import Testing

@Suite("Candidates for a host's name")
struct HostCandidatesTests {
  private func candidates(_ words: String..., configurations: String...) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-ssh-config-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let paths = configurations.indices.map { folder.appending(path: "\($0)").path }
    for (path, text) in zip(paths, configurations) { try writeFile(path, Array(text.utf8)) }
    return KnownHosts(files: [], configurations: ["/nonexistent"] + paths).candidates(in: ["ssh"] + words)
  }

  @Test("candidates for an SSH host's name are ssh's destination without the user, and the words after that")
  func words() throws {
    #expect(try candidates("host.test") == ["host.test"])
    #expect(try candidates("-l", "bob", "-v", "alice@host.test", "ls", "-la", "file") == ["host.test", "ls", "file"])
    #expect(try candidates("-lbob", "-vvt", "--", "a@b@host.test") == ["host.test"])
    #expect(try candidates("-i", "key", "-J", "relay.test", "host.test") == ["host.test", "key", "relay.test"])
    #expect(try candidates() == [])
    #expect(try candidates("-p") == [])
    #expect(try candidates("", "-", "alice@") == ["-"])
  }

  @Test("candidates for an SSH host's name include the port of -p and of the option Port")
  func ports() throws {
    let expected = ["[host.test]:2222", "host.test"]
    for words in [
      ["-p", "2222"], ["-p2222"], ["-vp", "2222"], ["-4p2222"], ["-o", "Port=2222"], ["-oPort=2222"],
      ["-o", "Port 2222"],
      ["-oport 2222"], ["-vo", "PORT = \"2222\""], ["-p", "2222", "-o", "Port=2222"],
    ] {
      let hosts = KnownHosts(files: [])
      #expect(hosts.candidates(in: ["ssh"] + words + ["alice@host.test"]) == expected, "\(words)")
      #expect(hosts.candidates(in: ["ssh", "host.test"] + words) == expected, "\(words)")
    }
    for port in ["0", "65536", "-1", "+22", "2222x", "", " 22", "٣"] {
      #expect(try candidates("-p", port, "host.test") == ["host.test"], "\(port)")
    }
  }

  @Test("candidates for an SSH host's name include those in ssh:// addresses, and IPv6 without brackets")
  func addresses() throws {
    #expect(try candidates("ssh://alice@host.test:2222") == ["[host.test]:2222", "host.test"])
    #expect(try candidates("ssh://host.test:2222/") == ["[host.test]:2222", "host.test"])
    #expect(try candidates("ssh://host.test") == ["host.test"])
    #expect(try candidates("SSH://a:b@[::1]:2222") == ["[::1]:2222", "::1"])
    #expect(try candidates("ssh://[fe80::1]") == ["fe80::1"])
    #expect(try candidates("alice@[::1]", "-p", "2222") == ["[::1]:2222", "::1"])
    #expect(try candidates("::1") == ["::1"])
    #expect(try candidates("-p", "1", "ssh://host.test:2") == ["[host.test]:2", "[host.test]:1", "host.test"])
  }

  @Test("candidates for an SSH host's name include the options HostKeyAlias and HostName, before the destination")
  func options() throws {
    #expect(
      try candidates("-o", "HostKeyAlias=alias", "-oHostName=real.test", "-p", "2222", "work")
        == ["alias", "[real.test]:2222", "real.test", "[work]:2222", "work"])
    #expect(try candidates("work", "-o", "HostName %h.test") == ["work.test", "work"])
    #expect(try candidates("-oHostName=a%%h.test", "-o", "", "-o", "User=bob", "work") == ["a%h.test", "work"])
  }

  @Test("candidates for an SSH host's name include those of ssh's configuration, matching sections first")
  func configuration() throws {
    let own = """
      # Host comment.test
        hostkeyalias global
      Host other *.example "two words"
        HostName=other.test
        Port 2200
      HOST work w?rk !never # not.test
      \tHostName "work.test"
        Port = 2222
        ProxyCommand touch hacked
      Include more
      Match host work exec "touch hacked"
        HostName matched.test
      """
    let system = "Host *\r\n  HostName %h.system.test\r\n"
    #expect(
      try candidates("work", configurations: own, system) == [
        "global", "[work.test]:2222", "work.test", "[work.system.test]:2222", "work.system.test", "[work]:2222", "work",
        "[other.test]:2200", "other.test", "[other]:2200", "other", "[two words]:2200", "two words", "matched.test",
        ".system.test",
      ])
    #expect(
      try candidates("-p", "1", "a.example", configurations: own).prefix(3) == [
        "global", "[other.test]:1", "[other.test]:2200",
      ])
    #expect(try candidates("never", configurations: own).prefix(2) == ["global", "never"])
  }

  @Test("candidates for an SSH host's name are at most 256, and include the likely ones")
  func many() throws {
    let sections = (0..<1_000).map { "Host alias\($0)\nHostName host\($0).test\nPort \(1_000 + $0)\n" }.joined()
    let names = KnownHosts(files: []).candidates(
      in: ["ssh", "host.test"] + (0..<1_000).flatMap { ["-p", "\($0 + 1)", "word\($0)"] })
    #expect(names.count == 256)
    let configured = try candidates("alias999", configurations: sections)
    #expect(configured.count == 256)
    #expect(configured.prefix(4) == ["[host999.test]:1999", "host999.test", "[alias999]:1999", "alias999"])
    #expect(Set(configured).count == 256)
    let long = String(repeating: "x", count: 256)
    #expect(try candidates(long, "host.test", configurations: "Host \(long)\n") == ["host.test"])
  }

  @Test("candidates for an SSH host's name are read only from configuration files of at most 1 MiB")
  func limits() throws {
    let long = "Host work\nHostName work.test\n" + String(repeating: "#\n", count: 1 << 19)
    #expect(try candidates("work", configurations: long) == ["work"])
    #expect(KnownHosts(files: [], configurations: ["/dev/zero", "/etc"]).candidates(in: ["ssh", "work"]) == ["work"])
  }

  @Test("a hashed host name behind an ssh alias is found in the files that ssh reads by default")
  func usualFiles() async throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "whorl-home-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: "\(home)/.ssh", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: home) }
    let (key, file) = (try TestKey().publicKey, "\(home)/.ssh/known_hosts2")
    try writeFile(file, Array("[work.test]:2222 ssh-ed25519 \(Data(key).base64EncodedString())\n".utf8))
    try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-H", "-f", file]).run().mustSucceed()
    try writeFile("\(home)/.ssh/config", Array("Host work\n HostName work.test\n Port 2222\n".utf8))
    let hosts = KnownHosts(home: home, files: [])
    #expect(hosts.name(ofHostWith: key, candidates: hosts.candidates(in: ["ssh", "work"])) == "[work.test]:2222")
    #expect(hosts.name(ofHostWith: key, candidates: hosts.candidates(in: ["ssh"])) == "[work.test]:2222")
    let other = KnownHosts(home: home, files: ["\(home)/none"])
    #expect(other.name(ofHostWith: key, candidates: hosts.candidates(in: ["ssh", "work"])) == nil)
    #expect(other.candidates(in: ["ssh", "work"]).first == "[work.test]:2222")
    let homeless = KnownHosts(home: nil, files: [])
    #expect(homeless.name(ofHostWith: key, candidates: hosts.candidates(in: ["ssh", "work"])) == nil)
  }
}
