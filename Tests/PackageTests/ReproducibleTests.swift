import Foundation
import Glibc
import Testing

/// Runs scripts/reproducible where the scripts that it calls are short ones of the test.
@Suite(
  "make reproducible",
  .enabled(
    if: ["faketime", "diffoscope"].allSatisfy { FileManager.default.fileExists(atPath: "/usr/bin/\($0)") },
    "faketime or diffoscope is not installed"))
struct ReproducibleTests {
  /// Compares two builds whose packages contain the output of a command.
  private func compare(_ command: String, rebuild: Bool = true) async throws -> Finished {
    try await withTemporaryFolder { folder in
      // Another user enters it, too.
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      let version = "Sources/Programs/CommandBase/Version.swift"
      for file in ["scripts/reproducible", version] {
        let copy = folder.appending(path: file)
        try FileManager.default.createDirectory(
          at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Repository.root.appending(path: file), to: copy)
      }
      let tree = folder.appending(path: "tree/whorl-0.1.0/scripts")
      try FileManager.default.createDirectory(at: tree, withIntermediateDirectories: true)
      try writeScript("mkdir -p .build/release; echo program >.build/release/whorl", to: tree.appending(path: "build"))
      try writeScript(
        "mkdir -p .build/packages; { cat \"${BIN:-.build/release}/whorl\"; \(command); } >.build/packages/whorl_1.deb",
        to: tree.appending(path: "deb"))
      try writeScript(
        "mkdir -p .build/dist; tar -C tree -czf .build/dist/whorl-0.1.0.tar.gz whorl-0.1.0",
        to: folder.appending(path: "scripts/dist"))
      if !rebuild {
        try FileManager.default.createDirectory(
          at: folder.appending(path: ".build/release"), withIntermediateDirectories: true)
        try Data("built before\n".utf8).write(to: folder.appending(path: ".build/release/whorl"))
      }
      return try await run("scripts/reproducible", in: folder, environment: ["REBUILD": rebuild ? "yes" : "no"])
    }
  }

  @Test("make reproducible passes if two builds gave the same packages, and says whether the programs were built twice")
  func same() async throws {
    let both = try await compare("echo package")
    #expect(both.status == 0 && both.output.hasSuffix("both builds gave the same packages\n"), "\(both.errors)")
    let packed = try await compare("echo package", rebuild: false)
    #expect(packed.status == 0 && packed.output.hasSuffix("the programs were not built twice\n"), "\(packed.errors)")
  }

  @Test(
    "make reproducible fails if the folder, the day, the language, the time zone, the umask, the home or the user is in a package",
    arguments: ["pwd", "date +%F", "echo $LC_ALL", "date -d @0", "umask", "echo ~", "id -u"])
  func different(command: String) async throws {
    // Only root can build as two users.
    guard command != "id -u" || getuid() == 0 else { return }
    let compared = try await compare(command)
    #expect(compared.status == 1, "\(compared.output)")
    #expect(compared.errors.contains("these packages differ: whorl_1.deb"), "\(compared.errors)")
  }
}
