import Foundation
import ProgramDriver

/// An authority that certifies keys with ssh-keygen.
struct TestAuthority {
  /// The path of its private key.
  let path: String
  /// The kind and the key, as a line of known hosts has them.
  let publicKey: String

  init(at path: String) async throws {
    self.path = path
    try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-f", path]).run()
      .mustSucceed()
    publicKey = String(decoding: try readFile("\(path).pub"), as: UTF8.self).split(separator: " ").prefix(2)
      .joined(separator: " ")
  }

  /// Makes an authority in a new folder that exists while `body` runs.
  static func with<Value>(_ body: (TestAuthority) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-authority-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(TestAuthority(at: folder.appending(path: "authority").path))
  }

  /// Its line in a file of known hosts.
  func line(_ hosts: String) -> String { "@cert-authority \(hosts) \(publicKey)\n" }

  /// Certifies the key in `NAME.pub`, in `NAME-cert.pub`.
  func certify(_ name: String, _ options: [String]) async throws {
    let arguments = ["-q", "-s", path, "-I", "id"] + options + ["\(name).pub"]
    try await Invocation(program: "/usr/bin/ssh-keygen", arguments: arguments).run().mustSucceed()
  }

  /// A certificate of a key.
  func certificate(of key: TestKey, _ options: String...) async throws -> [UInt8] {
    try await certificate(of: key, options)
  }

  func certificate(of key: TestKey, _ options: [String]) async throws -> [UInt8] {
    let name = "\(path)-\(UUID().uuidString)"
    try writeFile("\(name).pub", Array("ssh-ed25519 \(Data(try key.publicKey).base64EncodedString())\n".utf8))
    try await certify(name, options)
    let line = String(decoding: try readFile("\(name)-cert.pub"), as: UTF8.self)
    return Data(base64Encoded: String(line.split(separator: " ")[1])).map { Array($0) } ?? []
  }
}
