import Glibc
import ProgramDriver
import Testing

@Suite("A whorl-reader that another user has planted")
struct PlantedProgramTests {
  @Test("whorl runs no whorl-reader of another user", .enabled(if: geteuid() == 0, "only root can give a file away"))
  func planted() async throws {
    try await withFolder { folder in
      // An installation below a folder where others can make folders, like /tmp.
      try #require(chmod(folder, 0o1777) == 0)
      let whorl = "\(folder)/bin/whorl"
      try #require(mkdirPrivate("\(folder)/bin"))
      try writeFile(whorl, try readFile(try Programs.path("whorl")))
      try #require(chmod(whorl, 0o755) == 0)
      let marker = "\(folder)/marker"
      let places = ["\(folder)/libexec/whorl/whorl-reader", "\(folder)/named/whorl-reader"]
      for place in places {
        let names = place.dropFirst(folder.count + 1).split(separator: "/")
        for end in 1..<names.count {
          let made = "\(folder)/\(names[..<end].joined(separator: "/"))"
          try #require(mkdir(made, 0o755) == 0 && chown(made, 4321, 4321) == 0)
        }
        try writeFile(place, Array("#!/bin/sh\nid > \(marker)\n".utf8))
        try #require(chmod(place, 0o755) == 0 && chown(place, 4321, 4321) == 0)
      }
      let configuration = "\(folder)/config.json"
      try writeFile(configuration, Array(#"{"readerProgram": "\#(places[1])"}"#.utf8))

      for component in ["\(folder)/libexec", "\(folder)/named"] {
        for command in [["reader", "list"], ["doctor"]] {
          let result = try await Invocation(
            program: whorl,
            arguments: command + ["--config", configuration, "--store", "\(folder)/store", "--reader", "libfprint"]
          ).run()
          #expect(result.status == 69, "\(result.diagnostics)")
          #expect(
            (result.text + result.diagnostics).contains(
              "whorl-reader is not run, because user 4321 owns \(component) "),
            "\(result.text)\(result.diagnostics)")
        }
        // The next place is searched if this one has no program.
        removeFolder("\(folder)/libexec")
      }
      #expect(access(marker, F_OK) != 0)
    }
  }
}
