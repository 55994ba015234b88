import Foundation
import Testing

@Suite("scripts/house")
struct HouseTests {
  /// Runs it on source files, by their paths.
  private func house(_ files: [String: String]) async throws -> (status: Int32, last: Substring?) {
    try await withTemporaryFolder { folder in
      for (name, text) in files {
        let path = folder.appending(path: name)
        try FileManager.default.createDirectory(
          at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: path)
      }
      let result = try await run("python3", "scripts/house.py", folder.path)
      return (result.status, result.output.split(separator: "\n").last)
    }
  }

  @Test("the last line of scripts/house counts lines, files, libraries and those that say where to begin")
  func numbers() async throws {
    let (status, last) = try await house([
      "Common/Doors/Door.swift": "// Doors: all of it is here.\n\nstruct Door {}\n",
      "Common/Locks/Lock.swift": "struct Lock {}\n",
      "Programs/porter/Porter.swift": String(repeating: "\n", count: 401),
    ])
    #expect(status == 0)
    #expect(
      last == """
        405 lines in 3 files of a median of 3 lines, 1 of more than 400; 2 libraries, 1 with a comment that says where to \
        begin; 0 circles
        """)
  }

  @Test("scripts/house counts and refuses two files that use each other's types")
  func circles() async throws {
    let (status, last) = try await house([
      "Common/Doors/Door.swift": "struct Door { var lock: Lock }\n",
      "Common/Doors/Lock.swift": "struct Lock { var doors: [Door] }\n",
    ])
    #expect(status == 1)
    #expect(last?.hasSuffix("; 1 circles") == true, "\(last ?? "")")
  }
}
