import Foundation
import Testing

/// Runs scripts/release in a clone. The packages are empty, so nothing is built.
@Suite(
  "Releases",
  .enabled(
    if: CommittedClone.isPossible
      && ["apt-ftparchive", "gpg", "gpgv", "ssh-keygen"].allSatisfy {
        FileManager.default.fileExists(atPath: "/usr/bin/\($0)")
      }, "no git repository, or no apt-utils, gnupg, gpgv or openssh-client"))
struct ReleaseTests {
  private static let version = "0.1.0"
  /// Nothing is built for it, even if a release that has to be refused is not.
  private static let noRelease = "NONE"

  /// A clone whose last commit says that it is 0.1.0.
  private func withClone(_ body: (URL) async throws -> Void) async throws {
    try await CommittedClone.with { clone in
      let changes = try Repository.text("CHANGELOG.md")
      try changes.replacing(
        "## [Unreleased]", with: "## [Unreleased]\n\n## [\(Self.version)] - 2026-12-01", maxReplacements: 1
      )
      .write(to: clone.appending(path: "CHANGELOG.md"), atomically: true, encoding: .utf8)
      let debian = try Repository.text("packaging/debian/changelog").split(
        separator: "\n", omittingEmptySubsequences: false)
      try (["whorl (\(Self.version)-1) unstable; urgency=medium"] + debian.dropFirst()).joined(separator: "\n")
        .write(to: clone.appending(path: "packaging/debian/changelog"), atomically: true, encoding: .utf8)
      try await CommittedClone.commit(clone)
      try await body(clone)
    }
  }

  /// Names who publishes the clone's releases.
  private func publish(in clone: URL) async throws {
    let project = clone.appending(path: "packaging/project.txt")
    let text = try String(contentsOf: project, encoding: .utf8)
    try text.replacing("OWNER", with: "somebody").write(to: project, atomically: true, encoding: .utf8)
    try await CommittedClone.commit(clone)
  }

  /// Packages for Debian 12 and testing, each in its folder.
  private func packages(in folder: URL, version: String = version) async throws -> URL {
    let architecture = try await run("dpkg", "--print-architecture").output
    let packages = folder.appending(path: "packages")
    for (suite, suffix) in [("bookworm", "~debian12"), ("testing", "")] {
      for name in ["whorl", "libpam-whorl"] {
        let tree = folder.appending(path: "tree-\(suite)-\(name)")
        try FileManager.default.createDirectory(at: tree.appending(path: "DEBIAN"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
          at: packages.appending(path: suite), withIntermediateDirectories: true)
        try """
        Package: \(name)
        Version: \(version)-1\(suffix)
        Architecture: \(architecture)Maintainer: x <x@localhost>
        Depends: polkitd, libc6 (>= 2.36), libsystemd0
        Description: x

        """.write(to: tree.appending(path: "DEBIAN/control"), atomically: true, encoding: .utf8)
        let built = try await run(
          "dpkg-deb", "--root-owner-group", "--build", tree.path, packages.appending(path: suite).path)
        #expect(built.status == 0, "\(built.errors)")
      }
    }
    return packages
  }

  private func release(_ arguments: String..., in clone: URL, environment: [String: String] = [:]) async throws
    -> Finished
  {
    try await run(
      "scripts/release", arguments, in: clone, environment: ["RELEASES": "bookworm testing"].merging(environment) { $1 }
    )
  }

  /// The options with which apt knows nothing but the release's file for Debian 12.
  private func apt(_ files: URL, _ folder: URL) throws -> [String] {
    for needed in ["apt/lists/partial", "apt/cache/archives/partial"] {
      try FileManager.default.createDirectory(at: folder.appending(path: needed), withIntermediateDirectories: true)
    }
    let state = folder.appending(path: "apt")
    try Data().write(to: state.appending(path: "status"))
    return [
      "Dir::Etc::sourcelist=\(files.path)/whorl-bookworm.sources", "Dir::Etc::sourceparts=/dev/null",
      "Dir::Etc::trustedparts=/dev/null", "Dir::State=\(state.path)", "Dir::State::status=\(state.path)/status",
      "Dir::Cache=\(state.path)/cache", "APT::Sandbox::User=root", "APT::Update::Error-Mode=any",
    ].flatMap { ["-o", $0] }
  }

  @Test(
    "a release has checksums, two signatures of them, and a repository, which sha256sum, gpg, ssh-keygen and apt accept"
  )
  func dryRun() async throws {
    try await withClone { clone in
      let folder = clone.deletingLastPathComponent()
      let made = try await release("--dry-run", try await packages(in: folder).path, Self.version, in: clone)
      #expect(made.status == 0, "\(made.output)\(made.errors)")
      let files = clone.appending(path: ".build/releases/\(Self.version)")
      #expect(try await run("git", ["tag"], in: clone).output.contains("v\(Self.version)") == false)

      // The two lines of the README, with the release's own keys.
      let lines = try Repository.text("README.md").split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      .filter { $0.hasPrefix("gpgv ") || $0.hasPrefix("ssh-keygen -Y verify ") }
      #expect(lines.count == 2, "\(lines)")
      for line in lines {
        let local = line.replacing("packaging/keys/", with: "")
        let verified = try await run("sh", ["-c", local], in: files)
        #expect(
          verified.status == 0 && verified.output.contains(": OK"), "\(line): \(verified.output)\(verified.errors)")
      }
      let sums = try String(contentsOf: files.appending(path: "SHA256SUMS"), encoding: .utf8)
      for name in [
        "whorl-\(Self.version).tar.gz", "whorl-\(Self.version).spdx.json", "whorl-bookworm.sources", "allowed_signers",
      ] { #expect(sums.contains("  \(name)\n"), "\(name)") }

      try await checkSecurityFile(files.appending(path: "security.txt"))

      let options = try apt(files, folder)
      let updated = try await run("apt-get", options + ["update"])
      #expect(updated.status == 0 && !updated.errors.contains("W:"), "\(updated.output)\(updated.errors)")
      let fetched = try await run("apt-get", options + ["download", "whorl"], in: folder)
      #expect(fetched.status == 0, "\(fetched.output)\(fetched.errors)")
      let index = files.appending(path: "apt/dists/bookworm/Release")
      #expect(try String(contentsOf: index, encoding: .utf8).contains("\nSuite: bookworm\n"))

      // A line that somebody has changed is refused by each of them.
      try (sums.replacing("whorl-bookworm.sources", with: "whorl-trixie.sources"))
        .write(to: files.appending(path: "SHA256SUMS"), atomically: true, encoding: .utf8)
      for line in lines {
        let local = line.replacing("packaging/keys/", with: "")
        #expect(try await run("sh", ["-c", local], in: files).status != 0, "\(line)")
      }
      let signed = files.appending(path: "apt/dists/bookworm/InRelease")
      try String(contentsOf: signed, encoding: .utf8).replacing("Label: Whorl", with: "Label: Other")
        .write(to: signed, atomically: true, encoding: .utf8)
      #expect(try await run("apt-get", options + ["update"]).status != 0)
    }
  }

  /// A file as RFC 9116 wants it: fields and comments, a contact, and one time within the next year.
  private func checkSecurityFile(_ file: URL) async throws {
    let signed = try await run(
      "gpgv", "--keyring", "./release.gpg", "security.txt.asc", in: file.deletingLastPathComponent())
    #expect(signed.status == 0, "\(signed.errors)")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
    var fields: [Substring: [String]] = [:]
    for line in lines {
      let match = try #require(line.wholeMatch(of: /([A-Z][A-Za-z-]*): (\S.*)/), "\(line)")
      fields[match.1, default: []].append(String(match.2))
    }
    let contacts = try #require(fields["Contact"])
    for contact in contacts + (fields["Policy"] ?? []) {
      #expect(contact.hasPrefix("https://") || contact.hasPrefix("mailto:"), "\(contact)")
    }
    #expect(fields["Preferred-Languages"]?.count == 1)
    let expiries = try #require(fields["Expires"])
    #expect(expiries.count == 1)
    let end = try Date(try #require(expiries.first), strategy: .iso8601)
    #expect((0...366 * 86_400).contains(end.timeIntervalSinceNow), "\(end)")
  }

  private struct SPDX: Decodable {
    struct Package: Decodable {
      var id: String
      var name: String
      var versionInfo: String?
      var licenseDeclared: String

      enum CodingKeys: String, CodingKey {
        case id = "SPDXID"
        case name, versionInfo, licenseDeclared
      }
    }
    struct Relation: Decodable {
      var spdxElementId: String
      var relationshipType: String
      var relatedSpdxElement: String
    }
    var spdxVersion: String
    var packages: [Package]
    var relationships: [Relation]
  }

  @Test(
    "the list of what is inside a release has Whorl, the Swift packages with their licences, and the linked libraries")
  func inside() async throws {
    try await withTemporaryFolder { folder in
      let files = try await packages(in: folder).appending(path: "bookworm")
      try Data("archive".utf8).write(to: files.appending(path: "whorl-\(Self.version).tar.gz"))
      let environment = ["SOURCE_DATE_EPOCH": "1796083200"]
      let printed = try await run("scripts/spdx.py", Self.version, files.path, environment: environment)
      #expect(printed.status == 0, "\(printed.errors)")
      #expect(
        printed.output == (try await run("scripts/spdx.py", Self.version, files.path, environment: environment)).output)
      let list = try JSONDecoder().decode(SPDX.self, from: Data(printed.output.utf8))
      #expect(list.spdxVersion == "SPDX-2.3")
      let names = Dictionary(uniqueKeysWithValues: list.packages.map { ($0.id, $0) })
      func related(_ kind: String) -> Set<String> {
        Set(list.relationships.filter { $0.relationshipType == kind }.compactMap { names[$0.relatedSpdxElement]?.name })
      }
      #expect(related("CONTAINS") == ["GRDB.swift", "swift-argument-parser"])
      #expect(related("STATIC_LINK").isSuperset(of: ["GRDB.swift", "swift-argument-parser"]))
      #expect(related("DYNAMIC_LINK") == ["libc6", "libsystemd0"])
      #expect(related("DEPENDS_ON") == ["polkitd"])
      // Nothing is related to a package that the list does not have.
      for relation in list.relationships { #expect(names[relation.relatedSpdxElement] != nil, "\(relation)") }
      for name in related("CONTAINS") {
        let package = try #require(list.packages.first { $0.name == name })
        #expect(package.licenseDeclared != "NOASSERTION" && package.versionInfo != nil, "\(name)")
      }
      // The licences are those that Debian's file has.
      let copyright = try Repository.text("packaging/debian/copyright")
      for name in related("CONTAINS") { #expect(copyright.contains("/\(name)/*"), "\(name)") }
    }
  }

  @Test("a release is refused in one line if the tree, the version, the changelog, the tag or a key is not right")
  func refusals() async throws {
    try await withClone { clone in
      func refused(
        _ arguments: String..., saying words: String, environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
      ) async throws {
        // Without the configuration of whoever runs the tests.
        let settings = [
          "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "RELEASES": Self.noRelease,
        ]
        let answer = try await run("scripts/release", arguments, in: clone, environment: settings)
        #expect(
          answer.status != 0 && answer.output.isEmpty && answer.errors.hasPrefix("release: ")
            && answer.errors.contains(words) && answer.errors.split(separator: "\n").count == 1,
          "\(answer.status) \(answer.output)\(answer.errors)", sourceLocation: sourceLocation)
      }
      try await refused(saying: "usage: scripts/release")
      for version in ["1.0", "v0.1.0", "0.1.0-rc1", "01.1.0", "0.1.0\n0.1.0"] {
        try await refused(version, saying: "is no version")
      }
      try await refused("0.2.0", saying: "CHANGELOG.md has no section '## [0.2.0] - ")
      try await refused(Self.version, saying: "packaging/project.txt does not say yet who publishes Whorl")
      try await publish(in: clone)
      try await refused(Self.version, saying: "no signing key is configured")
      let file = clone.appending(path: "file")
      try Data().write(to: file)
      try await refused(Self.version, saying: "changes that are not committed")
      try FileManager.default.removeItem(at: file)

      // A key that the sources do not have.
      let ssh = clone.appending(path: ".build/key").path
      _ = try await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", ssh)
      _ = try await run("git", ["config", "whorl.ssh", ssh], in: clone)
      _ = try await run("git", ["config", "whorl.openpgp", "0000000000000000000000000000000000000000"], in: clone)
      try await refused(Self.version, saying: "gpg has no secret key 0000")

      try await refused("--unsigned", Self.version, saying: "the tag v0.1.0 is not that of the last commit")
      _ = try await run("git", ["tag", "v\(Self.version)"], in: clone)
      try await refused(Self.version, saying: "the tag v0.1.0 exists")
      let changelog = clone.appending(path: "packaging/debian/changelog")
      try FileManager.default.removeItem(at: changelog)
      try FileManager.default.copyItem(
        at: Repository.root.appending(path: "packaging/debian/changelog"), to: changelog)
      try await CommittedClone.commit(clone)
      try await refused(Self.version, saying: "packaging/debian/changelog does not begin with")
    }
  }

  @Test("a release is refused if the sources do not have the public half of its key, which people verify it with")
  func keyOfTheSources() async throws {
    try await withClone { clone in
      try await publish(in: clone)
      let folder = clone.deletingLastPathComponent()
      let (home, ssh) = (folder.appending(path: "gnupg"), folder.appending(path: "key").path)
      try FileManager.default.createDirectory(
        at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let environment = ["GNUPGHOME": home.path]
      let made = try await run(
        "gpg", ["--batch", "--passphrase", "", "--quick-generate-key", "x <x@localhost>", "ed25519", "sign", "1d"],
        environment: environment)
      #expect(made.status == 0, "\(made.errors)")
      _ = try await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", ssh)
      _ = try await run("git", ["config", "whorl.ssh", ssh], in: clone)
      _ = try await run("git", ["config", "whorl.openpgp", "x@localhost"], in: clone)
      let none = environment.merging(["RELEASES": Self.noRelease]) { $1 }
      let refused = try await release(Self.version, in: clone, environment: none)
      #expect(refused.status == 1, "\(refused.output)")
      #expect(
        refused.errors.contains("packaging/keys does not have the public half of your keys")
          && refused.errors.hasSuffix(": release.gpg allowed_signers\n"), "\(refused.errors)")

      // What it wrote is all that the next release needs.
      let keys = clone.appending(path: "packaging/keys")
      try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
      for key in ["release.gpg", "allowed_signers"] {
        try FileManager.default.copyItem(
          at: clone.appending(path: ".build/releases/\(key)"), to: keys.appending(path: key))
      }
      try await CommittedClone.commit(clone)
      let next = try await release(Self.version, in: clone, environment: none)
      #expect(!next.errors.contains("packaging/keys"), "\(next.errors)")
      _ = try await run("gpgconf", ["--kill", "gpg-agent"], environment: environment)
    }
  }

  @Test("packages of another version are no part of a release")
  func otherVersion() async throws {
    try await withClone { clone in
      let packages = try await packages(in: clone.deletingLastPathComponent(), version: "0.1.0~dev")
      let made = try await release("--dry-run", packages.path, Self.version, in: clone)
      #expect(made.status == 1 && made.errors.contains("has the version 0.1.0~dev-1"), "\(made.output)\(made.errors)")
      #expect(!FileManager.default.fileExists(atPath: clone.appending(path: ".build/releases/0.1.0/SHA256SUMS").path))
    }
  }

  @Test("the workflow of a release calls make, attests the checksums, and uses actions by their commits")
  func workflow() throws {
    let workflow = try Repository.text(".github/workflows/release.yml")
    #expect(workflow.contains("make release UNSIGNED=yes VERSION="))
    #expect(workflow.contains("subject-checksums: ") && workflow.contains("id-token: write"))
    let actions = workflow.matches(of: /uses: (\S+)/).map(\.1)
    #expect(actions.count == 2)
    for action in actions { #expect(action.wholeMatch(of: /[a-z-]+\/[a-z-]+@[0-9a-f]{40}/) != nil, "\(action)") }
    #expect(!workflow.contains("secrets."))
  }
}
