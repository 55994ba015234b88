import Testing

@Suite("File sizes")
struct FileSizeTests {
  /// The limit in CONTRIBUTING.md. A longer file is a warning.
  static let asked = 400
  /// A longer file fails the test.
  static let limit = 500

  @Test("no source file, test or script has more than 500 lines; more than 400 is a warning")
  func lineCounts() throws {
    var files = try Repository.files(
      under: ["Sources", "Tests", "Benchmarks", "Examples"], extensions: ["swift", "h", "c", "modulemap", "sh", "py"])
    files += try Repository.files(under: ["scripts", "udev"], extensions: [""])
    files += ["Package.swift", "Makefile"]
    #expect(files.count > 20, "the files were not found")
    for file in files {
      let lines = try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false).count - 1
      if lines > Self.limit {
        Issue.record("\(file) has \(lines) lines")
      } else if lines > Self.asked {
        Issue.record("\(file) has \(lines) lines", severity: .warning)
      }
    }
  }
}
