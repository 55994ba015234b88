internal import Foundation

/// The `openssl` command, run in a folder with words that have no spaces in them.
enum OpenSSLCommand {
  static let exists = (try? run("version", in: FileManager.default.temporaryDirectory)) != nil

  struct Failed: Error { var output: String }

  static func run(_ arguments: String, in folder: URL) throws {
    let run = ToolRun("openssl", arguments.split(separator: " ").map(String.init), in: folder)
    guard run.status == 0 else { throw Failed(output: "\(arguments): \(run.output)") }
  }
}

/// A folder for the command's files, removed with this object.
final class ScratchFolder: Sendable {
  private let url = FileManager.default.temporaryDirectory.appending(path: "whorl-keys-\(UUID().uuidString)")

  init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: url.appending(path: name)) }

  func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

  func openssl(_ arguments: String) throws { try OpenSSLCommand.run(arguments, in: url) }
}
