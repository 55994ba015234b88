import Foundation
import Testing

/// Runs `scripts/setup` as on other systems: stand-ins for pkg-config, apt-get and sudo come first in its PATH.
@Suite("make setup")
struct SetupTests {
  @Test("make setup prints one line and changes nothing if nothing is missing")
  func allThere() async throws {
    try await withSystem(id: "debian", packagesThere: true) { system in
      let setup = try await system.setup()
      #expect(setup.status == 0)
      #expect(setup.output.hasPrefix("setup: all is there"))
      #expect(setup.output.filter { $0 == "\n" }.count == 1)
      #expect(try system.installerCalls().isEmpty)
    }
  }

  @Test("make setup installs missing packages on Debian and Ubuntu", arguments: ["debian", "ubuntu"])
  func installs(id: String) async throws {
    try await withSystem(id: id, packagesThere: false) { system in
      let setup = try await system.setup()
      #expect(setup.status == 0, "\(setup.output)\(setup.errors)")
      let calls = try system.installerCalls()
      #expect(calls.count == 2)
      #expect(calls.first?.hasSuffix(" update") == true)
      let install = try #require(calls.last)
      for package in ["libfprint-2-dev", "libglib2.0-dev", "libssl-dev", "libsqlite3-dev", "libsystemd-dev"] {
        #expect(install.split(separator: " ").contains(Substring(package)), "\(install)")
      }
    }
  }

  @Test("make setup reports packages that are still missing after apt-get")
  func installationThatDoesNotHelp() async throws {
    try await withSystem(id: "debian", packagesThere: false, installerWorks: false) { system in
      let setup = try await system.setup()
      #expect(setup.status != 0)
      #expect(setup.errors.contains("still missing after apt-get"))
    }
  }

  @Test(
    "make setup on other systems than Debian and Ubuntu lists the missing packages, and installs nothing",
    arguments: [
      ("fedora", "dnf install", "libfprint-devel"), ("arch", "pacman -S", " libfprint "),
      ("plan9", "by their Debian names", "libfprint-2-dev"),
    ])
  func names(id: String, command: String, package: String) async throws {
    try await withSystem(id: id, packagesThere: false) { system in
      let setup = try await system.setup()
      #expect(setup.status != 0)
      #expect(setup.errors.contains(command) && setup.errors.contains(package), "\(setup.errors)")
      #expect(try system.installerCalls().isEmpty)
    }
  }

  @Test(
    "make setup names the version it needs if Swift is too old, and accepts that version", arguments: ["6.1.3", "5.10"])
  func oldSwift(version: String) async throws {
    try await withSystem(id: "debian", packagesThere: true, swift: version) { system in
      let setup = try await system.setup()
      #expect(setup.status != 0)
      #expect(setup.errors.contains("Swift \(version) is too old; install 6.2"))
    }
    try await withSystem(id: "debian", packagesThere: true, swift: "6.2") { system in
      let setup = try await system.setup()
      #expect(setup.status == 0)
    }
  }

  @Test("scripts/packages.txt lists every apt package of Package.swift, with its name on each system")
  func packageTableIsComplete() throws {
    let table = try Repository.text("scripts/packages.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
    let debian = table.map { $0.split(separator: " ")[2] }
    for row in table { #expect(row.split(separator: " ").count == 5, "\(row)") }
    let named = try Repository.text("Package.swift").matches(of: /\.apt\(\[(.*?)\]\)/)
      .flatMap { $0.1.matches(of: /"(.*?)"/).map(\.1) }
    #expect(!named.isEmpty)
    for package in named { #expect(debian.contains(package), "\(package)") }
  }

  // systemd-analyze, with which the tests check the units of users, fails without it: whorl-secrets.service has a name on the bus.
  @Test("make setup installs the message bus of users, which a unit of users needs")
  func busOfUsers() throws {
    #expect(try Repository.text("data/secret-service/whorl-secrets.service").contains("\nType=dbus\n"))
    let rows = try Repository.text("scripts/packages.txt").split(separator: "\n").map { $0.split(separator: " ") }
    #expect(rows.contains { $0[0] == "test" && $0[1].hasSuffix("/systemd/user/dbus.socket") })
  }

  /// Runs `scripts/make-root` with an mmdebstrap that fails so many times, and a sleep that does not wait.
  private func makeRoot(failures: Int, in folder: URL) async throws -> Finished {
    try writeScript(
      """
      echo "$*" >>'\(folder.path)/calls'
      echo 'E: Failed to fetch InRelease' >&2
      [ "$(wc -l <'\(folder.path)/calls')" -gt \(failures) ] && mkdir -p '\(folder.path)/root'
      """, to: folder.appending(path: "mmdebstrap"))
    try writeScript(":", to: folder.appending(path: "sleep"))
    try writeScript("echo http://mirror.test/debian", to: folder.appending(path: "apt-get"))
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try await run(
      "scripts/make-root", "testing", "\(folder.path)/root", "systemd dbus",
      environment: ["PATH": "\(folder.path):\(path)"])
  }

  @Test("a system of another release is tried again if its mirror fails, and made only once", arguments: [0, 1, 2])
  func anotherTry(failures: Int) async throws {
    try await withTemporaryFolder { folder in
      let made = try await makeRoot(failures: failures, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      #expect(made.errors.contains("trying again in half a minute") == (failures > 0))
      let calls = folder.appending(path: "calls")
      #expect(try String(contentsOf: calls, encoding: .utf8).split(separator: "\n").count == failures + 1)
      #expect(try await makeRoot(failures: 0, in: folder).status == 0)
      #expect(try String(contentsOf: calls, encoding: .utf8).split(separator: "\n").count == failures + 1)
    }
  }

  @Test("a mirror that fails three times ends the making of a system with what to do")
  func noMirror() async throws {
    try await withTemporaryFolder { folder in
      let made = try await makeRoot(failures: 9, in: folder)
      #expect(made.status == 1)
      #expect(made.errors.contains("no system of testing could be made from http://mirror.test/debian"))
      #expect(made.errors.contains("try again in half an hour") && made.errors.contains("Check-Valid-Until"))
    }
  }
}

/// A simulated system in its own folder.
private struct MadeUpSystem {
  let folder: URL

  func setup() async throws -> Finished {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try await run(
      "scripts/setup", "build",
      environment: [
        "PATH": "\(folder.path):\(path)", "OS_RELEASE": folder.appending(path: "os-release").path,
      ])
  }

  /// The calls of apt-get, one in each line.
  func installerCalls() throws -> [String] {
    let log = folder.appending(path: "calls")
    guard FileManager.default.fileExists(atPath: log.path) else { return [] }
    return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
  }
}

private func withSystem(
  id: String, packagesThere: Bool, installerWorks: Bool = true, swift: String = "6.3.1",
  _ body: (MadeUpSystem) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    try "ID=\(id)\n".write(to: folder.appending(path: "os-release"), atomically: true, encoding: .utf8)
    let there = folder.appending(path: "there")
    if packagesThere { try Data().write(to: there) }
    try writeScript("echo 'Swift version \(swift) (made up)'", to: folder.appending(path: "swift"))
    try writeScript("[ -e '\(there.path)' ]", to: folder.appending(path: "pkg-config"))
    try writeScript("exec \"$@\"", to: folder.appending(path: "sudo"))
    try writeScript(
      """
      echo "$*" >>'\(folder.path)/calls'
      \(installerWorks ? "case $* in *install*) : >'\(there.path)' ;; esac" : "")
      """, to: folder.appending(path: "apt-get"))
    try await body(MadeUpSystem(folder: folder))
  }
}
