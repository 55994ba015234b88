import Foundation
import Testing

/// The scripts that packages run as root, with prepared paths. They run with a folder in the place of the system's, and
/// remove no account of this machine.
@Suite("Maintainer scripts")
struct MaintainerScriptTests {
  private static let debian = "packaging/debian/whorl.postrm"
  private static let rpm = "packaging/rpm/whorl.spec"

  /// The text of a script, or the part of RPM's that runs after the removal.
  private static func text(_ path: String) throws -> String {
    let text = try Repository.text(path)
    guard path == rpm else { return text.replacing("#DEBHELPER#", with: "") }
    let start = try #require(text.range(of: "\n%postun\n"))
    let end = try #require(text.range(of: "\n%post selinux\n"))
    return String(text[start.upperBound..<end.lowerBound]).replacing("%%", with: "%")
  }

  /// Calls the body with a folder that stands for the system's, in which `stores` and `etc/whorl` can be prepared, and
  /// with a function that runs a script there.
  private func withSystem(
    _ path: String, _ body: (_ folder: URL, _ run: (String...) async throws -> Finished) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let files = FileManager.default
      for each in ["bin", "etc", "stores"] {
        try files.createDirectory(at: folder.appending(path: each), withIntermediateDirectories: true)
      }
      for program in ["userdel", "groupdel", "getent"] {
        try writeScript("exit 2", to: folder.appending(path: "bin/\(program)"))
      }
      var text = try Self.text(path)
      for (place, other) in [
        ("/var/lib/whorl", "stores"), ("/etc/whorl", "etc/whorl"), ("/usr/libexec/whorl", "libexec"),
        ("/run/", "run/"), ("/proc/", "proc/"),
      ] {
        text = text.replacing(place, with: "\(folder.path)/\(other)")
      }
      let script = folder.appending(path: "script")
      try text.write(to: script, atomically: true, encoding: .utf8)
      let search = "\(folder.path)/bin:/usr/bin:/bin"
      try await body(folder) { (words: String...) in
        try await PackageTests.run("/bin/sh", [script.path] + words, environment: ["PATH": search])
      }
    }
  }

  private func write(_ text: String, to file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  @Test(
    "a removal prints the names of kept stores without what a terminal would obey, and leaves what links point to",
    arguments: [debian, rpm])
  func names(script: String) async throws {
    try await withSystem(script) { folder, run in
      let files = FileManager.default
      for name in [#"1000-a\033[2Jb\nwhorl: x"#, "1001-b\u{1B}[2J\nforged: run this"] {
        try write("only", to: folder.appending(path: "stores/\(name)/vault.db"))
      }
      try write("theirs", to: folder.appending(path: "elsewhere/file"))
      try files.createDirectory(at: folder.appending(path: "empty"), withIntermediateDirectories: true)
      let links = [("stores/1002-link", "elsewhere"), ("stores/1003-link", "empty"), ("etc/whorl", "elsewhere")]
      for (link, target) in links {
        try files.createSymbolicLink(
          at: folder.appending(path: link), withDestinationURL: folder.appending(path: target))
      }
      let removed = try await run(script == Self.rpm ? "0" : "purge")
      #expect(removed.status == 0, "\(removed.errors)")
      #expect(removed.output.contains(#"whorl:   a\033[2Jb\nwhorl: x ("#), "\(removed.output)")
      #expect(removed.output.contains("whorl:   b?[2J?forged: run this ("), "\(removed.output)")
      for line in removed.output.split(separator: "\n") { #expect(line.hasPrefix("whorl: "), "\(line)") }
      #expect(!removed.output.contains("\u{1B}"))
      for there in ["elsewhere/file", "empty", "stores/1001-b\u{1B}[2J\nforged: run this/vault.db"] {
        #expect(files.fileExists(atPath: folder.appending(path: there).path), "\(there)")
      }
    }
  }

  @Test("the marker of the service takes the place of a link, and nothing is written where the link points to")
  func marker() async throws {
    try await withSystem("packaging/debian/whorl.postinst") { folder, run in
      let files = FileManager.default
      try write("theirs", to: folder.appending(path: "victim"))
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.appending(path: "victim").path)
      try files.createDirectory(at: folder.appending(path: "etc/whorl"), withIntermediateDirectories: true)
      let marker = folder.appending(path: "etc/whorl/system")
      for target in ["victim", "missing", "etc"] {
        try? files.removeItem(at: marker)
        try files.createSymbolicLink(at: marker, withDestinationURL: folder.appending(path: target))
        let configured = try await run("configure", "")
        #expect(configured.status == 0, "\(configured.errors)")
        let made = try files.attributesOfItem(atPath: marker.path)
        #expect(made[.type] as? FileAttributeType == .typeRegular && made[.posixPermissions] as? Int == 0o644)
        #expect(try String(contentsOf: folder.appending(path: "victim"), encoding: .utf8) == "theirs")
        let victim = try files.attributesOfItem(atPath: folder.appending(path: "victim").path)
        #expect(victim[.posixPermissions] as? Int == 0o600)
        #expect(!files.fileExists(atPath: folder.appending(path: "missing").path))
        #expect(try files.contentsOfDirectory(atPath: folder.appending(path: "etc/whorl").path) == ["system"])
      }
    }
  }

  @Test("the check before a removal prints a name with a backslash as it is, and takes no store's name for an option")
  func accounts() async throws {
    try await withSystem("scripts/may-remove") { folder, run in
      try write("sealed", to: folder.appending(path: "home/.local/share/keyrings/login.keyring.whorl"))
      try write("only", to: folder.appending(path: "stores/1000---help/vault.db"))
      try writeScript(
        """
        [ "$#" = 1 ] || { printf '%s ' "$@" >>'\(folder.path)/asked'; exit 2; }
        printf '%s\\n' 'CORP\\nancy:x:1000:1000::\(folder.path)/home:/bin/sh'
        """, to: folder.appending(path: "bin/getent"))
      let refused = try await run()
      #expect(refused.status == 1, "\(refused.output)\(refused.errors)")
      #expect(refused.errors.contains(#"only Whorl opens the login keyring of: CORP\nancy"#), "\(refused.errors)")
      #expect(try String(contentsOf: folder.appending(path: "asked"), encoding: .utf8).contains("passwd -- --help "))
    }
  }
}
