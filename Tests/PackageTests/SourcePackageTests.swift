import Foundation
import Testing

@Suite("The source package for Debian")
struct SourcePackageTests {
  /// The stanzas of Debian's control file, each with its fields.
  private func stanzas() throws -> [[Substring: String]] {
    try Repository.text("packaging/debian/control").components(separatedBy: "\n\n").map { stanza in
      var fields: [Substring: String] = [:]
      var name: Substring = ""
      for line in stanza.split(separator: "\n") {
        if line.hasPrefix(" ") {
          fields[name, default: ""] += line
        } else {
          name = line.prefix { $0 != ":" }
          fields[name] = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
        }
      }
      return fields
    }
  }

  @Test("Build-Depends has every package that the build, the window and the packaging use, and Swift")
  func buildDepends() throws {
    let source = try #require(try stanzas().first)
    let named = Set(
      try #require(source["Build-Depends"]).split(separator: ",").compactMap { part in
        part.split(separator: " ").first.map(String.init)
      })
    let table = try Repository.text("scripts/packages.txt").split(separator: "\n").map { $0.split(separator: " ") }
    for row in table where row.count == 5 && ["build", "window"].contains(row[0]) {
      #expect(named.contains(String(row[2])), "\(row[2])")
    }
    #expect(named.isSuperset(of: ["debhelper-compat", "dh-apparmor", "swiftlang"]))
  }

  @Test("each package with programs in Swift names the static libraries in them, and the build gives the versions")
  func staticLibraries() throws {
    for stanza in try stanzas().dropFirst() {
      let name = try #require(stanza["Package"])
      // The module for PAM is in C.
      let expected = name == "libpam-whorl" ? nil : "${swift:Static-Built-Using}"
      #expect(stanza["Static-Built-Using"] == expected, "\(name)")
    }
    #expect(
      try Repository.text("packaging/debian/rules").contains("dh_gencontrol -- -Vswift:Static-Built-Using="))
  }

  @Test("the tests of Debian's build are test targets of the package, and DEB_BUILD_OPTIONS=nocheck leaves them out")
  func testsAtTheBuild() async throws {
    let rules = try Repository.text("packaging/debian/rules")
    let lines = rules.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: "override_dh_auto_test:"))
    #expect(lines[start + 1] == "ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))" && lines[start + 3] == "endif")
    let named = try #require(lines[start + 2].wholeMatch(of: /\tscripts\/check '([A-Za-z ]+)'/)).1.split(separator: " ")
    let targets = try await PackageDescription.ofThisPackage().targets.filter { $0.type == "test" }.map(\.name)
    #expect(Set(targets).isSuperset(of: named.map(String.init)), "\(named)")
  }

  @Test("debian/copyright has the licence of each Swift package and the text of each licence")
  func licences() throws {
    let stanzas = try Repository.text("packaging/debian/copyright").components(separatedBy: "\n\n")
    #expect(
      stanzas.first?.hasPrefix("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/") == true)
    let texts = Set(
      stanzas.filter { $0.hasPrefix("License: ") }.compactMap { $0.split(separator: "\n").first?.dropFirst(9) })
    var used: Set<Substring> = []
    for stanza in stanzas where stanza.hasPrefix("Files: ") {
      let licence = try #require(stanza.firstMatch(of: /\nLicense: ([^\n]+)/)?.1)
      used.formUnion(licence.split(separator: " and "))
      #expect(stanza.contains("\nCopyright: "), "\(stanza)")
    }
    #expect(used == texts)
    let manifest = try Repository.text("Package.swift")
    for package in manifest.matches(of: /\.package\(url: "[^"]+\/([^"\/]+)"/).map(\.1) {
      #expect(stanzas.contains { $0.hasPrefix("Files: vendor/\(package)/*\n") }, "\(package)")
    }
  }

  @Test(
    "the source package has Whorl's sources and the Swift packages as two archives, and the form 3.0 (quilt)",
    .enabled(
      if: CommittedClone.isPossible
        && ["dh", "dpkg-buildpackage"].allSatisfy { FileManager.default.fileExists(atPath: "/usr/bin/\($0)") },
      "no git repository, or no debhelper or dpkg-dev"))
  func archives() async throws {
    try await CommittedClone.with { clone in
      // The check takes a minute and is part of `make deb-source`.
      let folder = clone.appending(path: ".build/bin")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try writeScript(":", to: folder.appending(path: "lintian"))
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      let built = try await run("scripts/deb-source", in: clone, environment: ["PATH": "\(folder.path):\(path)"])
      #expect(built.status == 0, "\(built.errors)")
      let out = clone.appending(path: ".build/deb-source")
      let names = try FileManager.default.contentsOfDirectory(atPath: out.path)
      let description = try #require(names.first { $0.hasSuffix(".dsc") })
      let text = try String(contentsOf: out.appending(path: description), encoding: .utf8)
      #expect(text.contains("Format: 3.0 (quilt)\n") && !text.contains("@ADDRESS@") && !text.contains("@MAINTAINER@"))

      let own = try #require(names.first { $0.hasSuffix(".orig.tar.gz") })
      let vendor = try #require(names.first { $0.hasSuffix(".orig-vendor.tar.gz") })
      #expect(text.contains(" \(own)\n") && text.contains(" \(vendor)\n"))
      let sources = try await run("tar", "-tzf", own, in: out).output
      #expect(sources.contains("/Package.swift\n") && !sources.contains("/vendor/"))
      let packages = try await run("tar", "-tzf", vendor, in: out).output
      #expect(packages.contains("\nvendor/GRDB.swift/LICENSE\n"))
      #expect(packages.contains("\nvendor/swift-argument-parser/LICENSE.txt\n"))

      let unpacked = try await run("dpkg-source", "--no-check", "--extract", description, "unpacked", in: out)
      #expect(unpacked.status == 0, "\(unpacked.errors)")
      for file in ["debian/rules", "debian/watch", "vendor/GRDB.swift/Package.swift", "scripts/build"] {
        #expect(FileManager.default.fileExists(atPath: out.appending(path: "unpacked/\(file)").path), "\(file)")
      }
    }
  }
}
