import Foundation
import Testing

/// A clone of this repository whose last commit has the scripts and texts at hand, for scripts that work on a commit.
enum CommittedClone {
  /// An unpacked archive has no commits.
  static var isPossible: Bool {
    FileManager.default.fileExists(atPath: Repository.root.appending(path: ".git").path)
  }

  /// Calls the body with a clone in a new folder, which is deleted afterwards.
  static func with(_ body: (URL) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let clone = folder.appending(path: "clone")
      let cloned = try await run("git", "clone", "--quiet", "--shared", Repository.root.path, clone.path)
      #expect(cloned.status == 0, "\(cloned.errors)")
      let files = FileManager.default
      for part in [
        "scripts", "packaging", "docs", "Makefile", "CHANGELOG.md", "README.md", "Sources/Programs/CommandBase",
      ] {
        try files.removeItem(at: clone.appending(path: part))
        try files.copyItem(at: Repository.root.appending(path: part), to: clone.appending(path: part))
      }
      try files.createDirectory(at: clone.appending(path: ".build"), withIntermediateDirectories: true)
      try files.createSymbolicLink(
        at: clone.appending(path: ".build/checkouts"),
        withDestinationURL: Repository.root.appending(path: ".build/checkouts"))
      try await commit(clone)
      try await body(clone)
    }
  }

  /// Commits all changes, which may be none.
  static func commit(_ clone: URL) async throws {
    _ = try await run("git", "add", "--all", in: clone)
    let committed = try await run(
      "git", "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false", "commit", "--quiet",
      "--allow-empty", "--message", "x", in: clone)
    #expect(committed.status == 0, "\(committed.errors)")
  }
}
