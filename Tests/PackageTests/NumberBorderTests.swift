import Foundation
import Testing

@Suite("scripts/borders.py")
struct NumberBorderTests {
  @Test("no source file uses a number from outside without a range")
  func repository() async throws {
    let result = try await run("python3", "scripts/borders.py")
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test(
    "numbers from outside that are used without a range are found",
    arguments: [
      ("let a = Int(number)", true), ("let a = Int(clamping: number)", false), ("let a = [UInt8(count)]", true),
      ("let a = Int32(MSG_NOSIGNAL | MSG_PEEK)", false), ("let a = bytes.reduce(0) { $0 << 8 | $1 }", true),
      ("let a = 64 << 10", false), ("if value.asUInt32 == 1 {}", true), ("case .int64(let a): a", true),
      ("// let a = Int(number)", false), ("let a = \"Int(number)\"", false),
    ])
  func findings(line: String, isFound: Bool) async throws {
    try await withTemporaryFolder { folder in
      let script = try Repository.text("scripts/borders.py")
      // All places of the list, and the line in one of them.
      for place in script.matches(of: /"(Sources\/[^"]+)"/).map({ String($0.1) }) {
        let path = folder.appending(path: place)
        let target = place.hasSuffix(".swift") ? path : path.appending(path: "File.swift")
        try FileManager.default.createDirectory(
          at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: target)
      }
      try Data("\(line)\n".utf8).write(to: folder.appending(path: "Sources/Common/CBOR/File.swift"))
      let result = try await run("python3", "scripts/borders.py", folder.path)
      #expect(result.status == (isFound ? 1 : 0), "\(result.errors)")
      #expect(result.errors.contains("Sources/Common/CBOR/File.swift:1") == isFound)
    }
  }

  @Test("a time of another machine is found wherever it is converted without a limit")
  func times() async throws {
    try await withTemporaryFolder { folder in
      let place = folder.appending(path: "Sources/Programs")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data("let a = Int64(item.modified)\n".utf8).write(to: place.appending(path: "File.swift"))
      let result = try await run("python3", "scripts/borders.py", folder.path)
      #expect(result.errors.contains("Sources/Programs/File.swift:1"), "\(result.errors)")
    }
  }
}
