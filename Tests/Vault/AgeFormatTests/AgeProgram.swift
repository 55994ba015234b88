import Foundation
import ProgramDriver
import Testing

/// The real `age`, run in a folder of its own.
final class AgeProgram: Sendable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-age-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: folder.appending(path: name)) }

  func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

  /// A new identity in the file `key`: its public and its private half, as age prints them.
  func makeKey() async throws -> (public: String, private: String) {
    try await run("age-keygen", "-o", "key")
    let text = String(decoding: try read("key"), as: UTF8.self)
    let words = text.split(whereSeparator: { " \n".contains($0) })
    return (
      try #require(words.first { $0.hasPrefix("age1") }).description,
      try #require(words.first { $0.hasPrefix("AGE-SECRET-KEY-1") }).description
    )
  }

  func encrypt(_ name: String, to recipient: String, into output: String) async throws {
    try await run("age", "-r", recipient, "-o", output, name)
  }

  /// Decrypts with the identity in the file `key`.
  func decrypt(_ name: String) async throws -> [UInt8] {
    try await run("age", "-d", "-i", "key", "-o", "\(name).out", name)
    // age makes no file for empty contents.
    return FileManager.default.fileExists(atPath: path("\(name).out")) ? try read("\(name).out") : []
  }

  func encrypt(_ name: String, under passphrase: String, into output: String) async throws {
    try await run(typing: passphrase, "age", "-p", "-o", output, name)
  }

  func decrypt(_ name: String, under passphrase: String) async throws -> [UInt8] {
    try await run(typing: passphrase, "age", "-d", "-o", "\(name).out", name)
    return try read("\(name).out")
  }

  private func run(_ words: String...) async throws {
    try await Invocation(program: "/usr/bin/env", arguments: ["-C", folder.path] + words).run().mustSucceed()
  }

  /// age asks for passphrases only at a terminal, for a new one twice.
  private func run(typing passphrase: String, _ words: String...) async throws {
    let terminal = try PseudoTerminal(["-C", folder.path] + words, program: "/usr/bin/env")
    #expect(try await terminal.walks { _ in passphrase } == 0, "\(terminal.shown)")
  }
}
