import Foundation
import Testing

@Suite("Who publishes Whorl")
struct ProjectTests {
  @Test("the placeholder for who publishes Whorl stands in one file only, packaging/project.txt")
  func oneFile() async throws {
    // As a part of an address; the TPM has a name with this word.
    let found = try await run(
      "grep", "--recursive", "--files-with-matches", "--binary-files=without-match", "--extended-regexp",
      "--exclude-dir=.build", "--exclude-dir=.git", "--exclude-dir=vendor", "[O]WNER[@/.]|[/@][O]WNER", ".")
    #expect(found.output == "./packaging/project.txt\n", "\(found.output)\(found.errors)")
  }

  /// Lines of the project's file, by their names.
  private func project() throws -> [Substring: String] {
    let lines = try Repository.text("packaging/project.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let name = line.prefix { $0 != " " }
        return (name, line.dropFirst(name.count).trimmingCharacters(in: .whitespaces))
      })
  }

  @Test(
    "scripts/fill-in writes who publishes Whorl into each file of a package",
    arguments: [
      "packaging/debian/control", "packaging/debian/copyright", "packaging/debian/changelog", "packaging/debian/watch",
      "packaging/rpm/whorl.spec", "packaging/arch/PKGBUILD", "data/window/org.whorl.Whorl.metainfo.xml",
      "docs/security.txt",
    ])
  func filledIn(path: String) async throws {
    try await withTemporaryFolder { folder in
      let copy = folder.appending(path: "copy")
      let template = try Repository.text(path)
      #expect(template.contains(/@(MAINTAINER|MAIL|ADDRESS)@/))
      try template.write(to: copy, atomically: true, encoding: .utf8)
      let filled = try await run("scripts/fill-in", copy.path)
      #expect(filled.status == 0, "\(filled.errors)")
      let text = try String(contentsOf: copy, encoding: .utf8)
      #expect(!text.contains(/@(MAINTAINER|MAIL|ADDRESS)@/), "\(text)")
      let project = try project()
      let (address, mail) = (try #require(project["address"]), try #require(project["mail"]))
      #expect(text.contains(address) || text.contains(mail))
    }
  }

  @Test("SECURITY.md says to whom a hole is reported, and within how many days an answer comes")
  func report() throws {
    let page = try Repository.text("SECURITY.md")
    let section = try #require(page.firstMatch(of: #/## How to report a hole\n([^#]*)\n## /#)).1
    #expect(section.contains("to the maintainers") && section.contains("docs/security.txt"))
    let days = section.matches(of: #/\n\| ([0-9]+) days \|/#).compactMap { Int($0.1) }
    #expect(days == days.sorted() && days.first.map { $0 <= 14 } == true, "\(days)")
  }
}
