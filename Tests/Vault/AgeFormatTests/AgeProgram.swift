import Foundation
import Glibc
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
  func makeKey() throws -> (public: String, private: String) {
    #expect(try run("age-keygen", ["-o", "key"]) == 0)
    let text = String(decoding: try read("key"), as: UTF8.self)
    let words = text.split(whereSeparator: { " \n".contains($0) })
    return (
      try #require(words.first { $0.hasPrefix("age1") }).description,
      try #require(words.first { $0.hasPrefix("AGE-SECRET-KEY-1") }).description
    )
  }

  func encrypt(_ name: String, to recipient: String, into output: String) throws {
    #expect(try run("age", ["-r", recipient, "-o", output, name]) == 0)
  }

  /// Decrypts with the identity in the file `key`.
  func decrypt(_ name: String) throws -> [UInt8] {
    #expect(try run("age", ["-d", "-i", "key", "-o", "\(name).out", name]) == 0)
    // age makes no file for empty contents.
    return FileManager.default.fileExists(atPath: path("\(name).out")) ? try read("\(name).out") : []
  }

  /// age asks for passphrases only at a terminal, which `script` gives it.
  func encrypt(_ name: String, under passphrase: String, into output: String) throws {
    let command = "age -p -o \(output) \(name)"
    #expect(try run("script", ["-qec", command, "/dev/null"], typing: "\(passphrase)\n\(passphrase)\n") == 0)
  }

  func decrypt(_ name: String, under passphrase: String) throws -> [UInt8] {
    let command = "age -d -o \(name).out \(name)"
    #expect(try run("script", ["-qec", command, "/dev/null"], typing: "\(passphrase)\n") == 0)
    return try read("\(name).out")
  }

  private func run(_ program: String, _ arguments: [String], typing: String = "") throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = folder
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    input.fileHandleForWriting.write(Data(typing.utf8))
    process.waitUntilExit()
    try input.fileHandleForWriting.close()
    return process.terminationStatus
  }
}
