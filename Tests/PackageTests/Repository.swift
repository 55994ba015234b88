import Foundation
import ProgramDriver
import Testing

/// The checkout that contains these tests, and the programs built from it.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The folder of the built programs, which is the folder of the test runner.
  static var products: URL {
    get throws {
      URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        .deletingLastPathComponent()
    }
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The paths, relative to the root, of the files in these folders whose extension is one of `extensions`.
  static func files(under folders: [String], extensions: Set<String>) throws -> [String] {
    try folders.flatMap { folder -> [String] in
      let start = root.appending(path: folder)
      guard FileManager.default.fileExists(atPath: start.path) else { return [] }
      return try FileManager.default.subpathsOfDirectory(atPath: start.path).map { "\(folder)/\($0)" }
    }
    .filter { extensions.contains(URL(fileURLWithPath: $0).pathExtension) }
    .sorted()
  }
}

/// The output and exit status of a program.
struct Finished {
  let status: Int32
  let output: String
  let errors: String
}

/// Runs a program of the system until it exits, without standard input. `environment` is added to the runner's
/// environment. Suspends meanwhile instead of blocking one of the few threads that tests run on.
func run(
  _ command: String, _ arguments: String..., in folder: URL = Repository.root, environment: [String: String] = [:]
) async throws -> Finished {
  try await run(command, arguments, in: folder, environment: environment)
}

func run(
  _ command: String, _ arguments: [String], in folder: URL = Repository.root, environment: [String: String] = [:]
) async throws -> Finished {
  // `make test` exports its own flags, which must not reach the `make` that a test starts, and `make check` has a slice
  // of the package built, which is not what the tests describe.
  let inherited = ProcessInfo.processInfo.environment.filter {
    !$0.key.hasPrefix("MAKE") && $0.key != "MFLAGS" && $0.key != "WHORL_SLICE"
  }
  // Not Foundation's Process: it reads the list of open descriptors past its end, which can crash while other tests have
  // a thousand of them open.
  let ended = try await Invocation(
    program: "/usr/bin/env", arguments: ["--chdir=\(folder.path)", command] + arguments,
    environment: inherited.merging(environment) { $1 }, newSession: false
  ).run()
  return Finished(status: ended.status, output: ended.text, errors: ended.diagnostics)
}

/// Calls the body with a new empty folder and deletes that folder afterwards.
func withTemporaryFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-package-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// Writes an executable shell script.
func writeScript(_ text: String, to file: URL) throws {
  try "#!/bin/sh\n\(text)\n".write(to: file, atomically: true, encoding: .utf8)
  try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
}
