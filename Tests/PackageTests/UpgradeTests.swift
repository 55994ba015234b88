import Foundation
import Testing

/// Lets apt work out an installation, and installs nothing. The packages have the fields of packaging/debian/control and no
/// files.
@Suite(
  "Upgrades of the Debian packages",
  .enabled(if: ["apt-get", "dpkg-deb"].allSatisfy { FileManager.default.fileExists(atPath: "/usr/bin/\($0)") }))
struct UpgradeTests {
  private static let (older, newer) = ("0.1.0~dev-1", "0.1.0~dev.20261128.142210-1")

  /// One stanza of a control file: its fields, in their order.
  private typealias Stanza = [(name: Substring, value: String)]

  /// The packages that are built, with this version in all of the fields.
  private func packages(_ version: String) throws -> [Stanza] {
    let paragraphs = try Repository.text("packaging/debian/control").components(separatedBy: "\n\n").dropFirst()
    return try paragraphs.map { paragraph in
      let fields = try paragraph.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map { line in
        let colon = try #require(line.firstIndex(of: ":"))
        let words = line[line.index(after: colon)...].replacing("${binary:Version}", with: version)
          .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("${") }
        return (line[..<colon], words.joined(separator: ", ").replacing("any", with: "all"))
      }
      // Fields that only the build fills in
      return fields.filter { !$0.1.isEmpty } + [("Version", version), ("Maintainer", "Nobody <nobody@localhost>")]
    }
  }

  private func text(_ stanza: Stanza) -> String { stanza.map { "\($0.name): \($0.value)\n" }.joined() }

  /// What apt would do to install files of newer packages where `installed` is on the machine.
  private func plan(_ names: [String], installed: [Stanza]) async throws -> String {
    try await withTemporaryFolder { folder in
      for stanza in try packages(Self.newer) {
        let name = try #require(stanza.first { $0.name == "Package" }?.value)
        let control = folder.appending(path: "\(name)/DEBIAN/control")
        try FileManager.default.createDirectory(
          at: control.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text(stanza).write(to: control, atomically: true, encoding: .utf8)
        let built = try await run("dpkg-deb", "--build", name, "\(name).deb", in: folder)
        #expect(built.status == 0, "\(built.errors)")
      }
      let others = ["polkitd", "systemd", "libpam-runtime"].map { name -> Stanza in
        [("Package", name), ("Architecture", "all"), ("Version", "999"), ("Maintainer", "x"), ("Description", "x")]
      }
      let status = folder.appending(path: "status")
      try (installed + others).map { "\(text($0))Status: install ok installed\n\n" }.joined()
        .write(to: status, atomically: true, encoding: .utf8)
      for needed in ["lists/partial", "cache/archives/partial"] {
        try FileManager.default.createDirectory(
          at: folder.appending(path: needed), withIntermediateDirectories: true)
      }
      let settings = [
        "Dir::State::status=\(status.path)", "Dir::State=\(folder.path)", "Dir::Cache=\(folder.path)/cache",
        "Dir::Etc::sourcelist=/dev/null", "Dir::Etc::sourceparts=/dev/null",
      ]
      let plan = try await run(
        "apt-get", ["--simulate", "install"] + settings.flatMap { ["-o", $0] } + names.map { "./\($0).deb" },
        in: folder, environment: ["LC_ALL": "C.UTF-8"])
      #expect(plan.status == 0, "\(plan.output)\(plan.errors)")
      return plan.output
    }
  }

  /// The lines of the README and the docs that install packages of Whorl, each with the names of the packages.
  private func lines() throws -> [(place: String, packages: [String])] {
    let docs = Repository.root.appending(path: "docs")
    let pages = try FileManager.default.contentsOfDirectory(atPath: docs.path).filter { $0.hasSuffix(".md") }
    return try (["README.md"] + pages.map { "docs/\($0)" }).flatMap { page in
      try Repository.text(page).split(separator: "\n").filter { $0.contains("apt install ") }.compactMap { line in
        let packages = line.matches(of: /([a-z-]+)_\*\.deb/).map { String($0.1) }
        return packages.isEmpty ? nil : (page, packages)
      }
    }
  }

  @Test("each line of README and docs that installs Whorl installs the part that logins run as well")
  func bothPackages() throws {
    let lines = try lines()
    #expect(lines.contains { $0.place == "README.md" } && lines.contains { $0.place == "docs/packages.md" })
    for line in lines { #expect(Set(line.packages).isSuperset(of: ["whorl", "libpam-whorl"]), "\(line)") }
  }

  @Test("the README's line upgrades whorl and libpam-whorl, and removes nothing", arguments: [true, false])
  func readme(needsEqualVersions: Bool) async throws {
    // The packages of before depended on exactly their own version.
    let installed = try packages(Self.older).map { stanza -> Stanza in
      stanza.map { ($0.name, needsEqualVersions ? $0.value.replacing("(>=", with: "(=") : $0.value) }
    }
    let line = try #require(try lines().first { $0.place == "README.md" })
    let plan = try await plan(
      line.packages, installed: installed.filter { !["whorl-tests", "whorl-gtk"].contains($0[0].value) })
    #expect(!plan.contains("Remv "), "\(plan)")
    for name in ["whorl", "libpam-whorl"] { #expect(plan.contains("Inst \(name) [\(Self.older)]"), "\(plan)") }
  }

  @Test("a newer whorl alone removes neither libpam-whorl nor whorl-tests")
  func alone() async throws {
    let plan = try await plan(["whorl"], installed: try packages(Self.older))
    #expect(!plan.contains("Remv "), "\(plan)")
    #expect(plan.contains("Inst whorl [\(Self.older)] (\(Self.newer)"), "\(plan)")
  }

  @Test("whorl recommends libpam-whorl")
  func recommended() throws {
    let whorl = try #require(try packages(Self.newer).first)
    #expect(whorl.contains { $0.name == "Recommends" && $0.value.split(separator: ", ").contains("libpam-whorl") })
  }

  @Test(
    "a package built before a release has the time of the commit in its version, so that apt takes a later one",
    arguments: [("0.1.0~dev-1", #"0\.1\.0~dev\.20261122\.120000-1"#), ("0.1.0-1", #"0\.1\.0-1"#)])
  func stamped(version: String, expected: String) async throws {
    try await withTemporaryFolder { folder in
      let files = FileManager.default
      let parts = [
        "CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "data", "docs", "po", "scripts", "udev", "Sources/Login",
        "Tests/System", "packaging/debian", "packaging/project.txt",
      ]
      for part in parts {
        let copy = folder.appending(path: part)
        try files.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try files.copyItem(at: Repository.root.appending(path: part), to: copy)
      }
      try "whorl (\(version)) unstable; urgency=medium\n".write(
        to: folder.appending(path: "packaging/debian/changelog"), atomically: true, encoding: .utf8)
      try "1795348800\n".write(to: folder.appending(path: ".source-date"), atomically: true, encoding: .utf8)
      let bin = folder.appending(path: "bin")
      try files.createDirectory(at: bin, withIntermediateDirectories: true)
      try writeScript(
        "sed -n '1s/.*(\\(.*\\)).*/\\1/p' debian/changelog >'\(folder.path)/version'; : >../a.buildinfo; : >../a.deb",
        to: bin.appending(path: "dpkg-buildpackage"))
      try writeScript(":", to: bin.appending(path: "lintian"))
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      let built = try await run(
        "scripts/deb", in: folder, environment: ["PATH": "\(bin.path):\(path)", "BIN": bin.path])
      #expect(built.status == 0, "\(built.errors)")
      let stamped = try String(contentsOf: folder.appending(path: "version"), encoding: .utf8)
      // After it comes the release of this machine, if it has a number.
      #expect(try Regex("^\(expected)(~[a-z]+[0-9.]+)?\\n$").firstMatch(in: stamped) != nil, "\(stamped)")
    }
  }

  private static var isClone: Bool {
    FileManager.default.fileExists(atPath: Repository.root.appending(path: ".git").path)
  }

  @Test("the commits whose packages are upgraded in a story are ancestors of this one", .enabled(if: isClone))
  func earlier() async throws {
    let commits = try Repository.text("packaging/debian/earlier.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
    #expect(!commits.isEmpty)
    let shallow = try await run("git", "rev-parse", "--is-shallow-repository").output.hasPrefix("true")
    for words in commits {
      #expect(words.count > 3 && words[0].count == 40, "\(words)")
      guard !shallow else { continue }
      let found = try await run("git", "merge-base", "--is-ancestor", String(words[0]), "HEAD")
      #expect(found.status == 0, "\(words[0]): \(found.errors)")
    }
  }
}
