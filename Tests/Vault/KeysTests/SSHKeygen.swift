import Foundation
import Testing

/// A new folder in which ssh-keygen has run.
struct SSHKeygen {
  private let folder: URL

  /// Runs commands of ssh-keygen in a folder with a file `text`, and removes the folder after `body`.
  ///
  /// - Parameter commands: arguments with spaces between them. `NONE` is an empty one.
  static func run<Value>(_ commands: [String], _ body: (SSHKeygen) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-ssh-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("some text".utf8).write(to: folder.appending(path: "text"))
    for command in commands {
      let words = command.split(separator: " ").map { $0 == "NONE" ? "" : String($0) }
      try #require(ToolRun("/usr/bin/ssh-keygen", words, in: folder).status == 0, "\(command)")
    }
    return try body(SSHKeygen(folder: folder))
  }

  func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  /// The key or certificate in a file of ssh-keygen.
  func bytes(_ name: String) throws -> [UInt8] {
    Array(try #require(Data(base64Encoded: String(try text(name).split(separator: " ")[1]))))
  }
}
