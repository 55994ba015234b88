import Foundation
import Testing

@Suite("The units of the service")
struct UnitTests {
  /// The highest allowed exposure in `systemd-analyze security`, in tenths.
  private static let exposureLimit = 18

  private static func names(_ suffixes: String...) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: "data/systemd").path)
      .filter { name in suffixes.contains { name.hasSuffix($0) } }.sorted()
  }

  /// Puts the units into the folder, with the programs that they name.
  private static func put(into folder: URL) throws {
    let programs = folder.appending(path: "libexec/whorl")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    for program in ["whorld", "whorl-reader", "whorl-program-path", "whorl-fido"] {
      try writeScript("", to: programs.appending(path: program))
    }
    for name in try names(".service", ".socket") {
      let text = try Repository.text("data/systemd/\(name)").replacingOccurrences(of: "@PREFIX@", with: folder.path)
      try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }
  }

  @Test("the units of the system service pass systemd-analyze verify")
  func verified() async throws {
    try await withTemporaryFolder { folder in
      try Self.put(into: folder)
      let units = try Self.names(".service", ".socket")
      #expect(units.contains("whorld.service"))
      let paths = units.map { folder.appending(path: String($0)).path }
      let result = try await run("systemd-analyze", ["verify", "--man=no"] + paths)
      #expect(result.status == 0)
      // Ignore messages about other units of this machine.
      let lines = (result.output + result.errors).split(separator: "\n").filter { line in
        units.contains { line.contains($0) }
      }
      #expect(lines.isEmpty, "\(lines)")
    }
  }

  @Test("the units of whorl-agent and of sync pass systemd-analyze verify for a user's service manager")
  func agent() async throws {
    try await withTemporaryFolder { folder in
      try FileManager.default.createDirectory(at: folder.appending(path: "bin"), withIntermediateDirectories: true)
      for program in ["whorl", "whorl-agent"] { try writeScript("", to: folder.appending(path: "bin/\(program)")) }
      let places = [
        "ssh-agent/whorl-agent.socket", "ssh-agent/whorl-agent.service", "secret-service/whorl-secrets.service",
        "sync/whorl-sync.service", "sync/whorl-sync-now.service", "sync/whorl-sync.timer",
      ]
      let units = places.map { $0.split(separator: "/")[1] }
      for (place, unit) in zip(places, units) {
        let text = try Repository.text("data/\(place)").replacingOccurrences(of: "@PREFIX@", with: folder.path)
        try text.write(to: folder.appending(path: String(unit)), atomically: true, encoding: .utf8)
      }
      let paths = units.map { folder.appending(path: String($0)).path }
      let result = try await run(
        "systemd-analyze", ["verify", "--user", "--man=no"] + paths, environment: ["XDG_RUNTIME_DIR": folder.path])
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    }
  }

  @Test("the units of the system service have an exposure of at most 1.8 in systemd-analyze security")
  func exposure() async throws {
    try await withTemporaryFolder { folder in
      try Self.put(into: folder)
      for unit in try Self.names(".service") {
        let result = try await run(
          "systemd-analyze",
          [
            "security", "--offline=yes", "--threshold=\(Self.exposureLimit)", "--no-pager",
            folder.appending(path: unit).path,
          ])
        #expect(result.status == 0, "\(result.output.suffix(200))\(result.errors)")
      }
    }
  }

  // With PrivateUsers every client would appear as the user nobody.
  @Test("whorld's unit leaves the vault able to see the machine's users")
  func users() throws {
    let unit = try Repository.text("data/systemd/whorld.service")
    #expect(!unit.contains("\nPrivateUsers="))
    #expect(!unit.contains("\nDynamicUser="))
    #expect(unit.contains("\nUser=whorl\n"))
  }
}
