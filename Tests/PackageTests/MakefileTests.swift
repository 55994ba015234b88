import Foundation
import Testing

@Suite("make")
struct MakefileTests {
  @Test("help lists every target of the Makefile, each in one line, and is what make alone does")
  func helpListsEveryTarget() throws {
    let help = try run("make", "--no-print-directory", "help")
    #expect(help.status == 0)
    let listed = help.output.split(separator: "\n").compactMap { $0.wholeMatch(of: /make ([a-z-]+) +\S.*/)?.1 }
    let phony = try #require(try Repository.text("Makefile").firstMatch(of: /\.PHONY:(.*)/)).1.split(separator: " ")
    #expect(listed.sorted() == phony.sorted())
    #expect(help.output.split(separator: "\n").count == listed.count)

    let plain = try run("make", "--no-print-directory")
    #expect(plain.output == help.output)
  }

  @Test(
    "has the targets people expect",
    arguments: [
      "setup", "demo", "test", "lint", "format", "bench", "campaign", "build", "install", "uninstall", "clean",
    ])
  func hasTarget(name: String) throws {
    #expect(try Repository.text("Makefile").split(separator: "\n").contains { $0.hasPrefix("\(name):") })
  }

  @Test("install puts the programs in their places and uninstall leaves nothing behind")
  func installsAndUninstalls() throws {
    try withTemporaryFolder { folder in
      let places = ["DESTDIR": folder.path, "PREFIX": "/usr", "BIN": try Repository.products.path]
      let installed = try run("make", "install", environment: places)
      #expect(installed.status == 0, "\(installed.errors)")
      let files = FileManager.default
      #expect(files.isExecutableFile(atPath: folder.appending(path: "usr/bin/whorl").path))
      #expect(files.isExecutableFile(atPath: folder.appending(path: "usr/libexec/whorl/whorl-reader").path))
      #expect(!files.fileExists(atPath: folder.appending(path: "usr/bin/whorl-reader").path))

      let removed = try run("make", "uninstall", environment: places)
      #expect(removed.status == 0, "\(removed.errors)")
      let left = try files.subpathsOfDirectory(atPath: folder.path).filter { path in
        var isFolder: ObjCBool = false
        return files.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
          && !isFolder.boolValue
      }
      #expect(left.isEmpty)
    }
  }

  @Test("the CI run uses targets of the Makefile and nothing else")
  func continuousIntegration() throws {
    let commands = try Repository.text(".ci/run").split(separator: "\n")
      .filter { !$0.hasPrefix("#") && !$0.hasPrefix("set ") && !$0.hasPrefix("cd ") }
    #expect(commands == ["make lint", "make test"])
  }
}
