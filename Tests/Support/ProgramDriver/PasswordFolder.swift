import Glibc

/// A key and a folder of pass for one test.
package struct PasswordFolder {
  package static let gpgIsInstalled: Bool = {
    let there = access("/usr/bin/gpg", X_OK) == 0
    if !there { print("gpg is not installed: the tests of pass are skipped") }
    return there
  }()

  package let folder: String
  package var store: String { "\(folder)/store" }
  package var environment: [String] { ["PATH=/usr/bin:/bin", "HOME=\(folder)", "GNUPGHOME=\(folder)/gnupg"] }

  /// - Parameter passphrase: the key's passphrase; if it is empty, gpg does not ask for one.
  package static func with(passphrase: String = "", _ body: (PasswordFolder) async throws -> Void) async throws {
    try await withFolder { folder in
      let made = PasswordFolder(folder: folder)
      guard mkdirPrivate("\(folder)/gnupg"), mkdirPrivate(made.store) else { throw SystemFailure(folder) }
      try await made.gpg(
        "--pinentry-mode", "loopback", "--passphrase", passphrase, "--quick-gen-key", "alice@example.org",
        "future-default", "default", "never")
      let result: Result<Void, any Error>
      do { result = .success(try await body(made)) } catch { result = .failure(error) }
      try await made.endAgent()
      try result.get()
    }
  }

  package func write(_ path: String, _ text: String) throws {
    var folder = store
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      _ = mkdirPrivate(folder)
    }
    try writeFile("\(store)/\(path)", Array(text.utf8))
  }

  package func encrypt(_ name: String, _ text: String) async throws { try await encrypt(name, Array(text.utf8)) }

  package func encrypt(_ name: String, _ bytes: [UInt8]) async throws {
    try write("\(name).gpg", "")
    try await gpg("--yes", "--encrypt", "-r", "alice@example.org", "-o", "\(store)/\(name).gpg", input: bytes)
  }

  private func gpg(_ words: String..., input: [UInt8]? = nil) async throws {
    try await Invocation(
      program: "/usr/bin/gpg", arguments: ["--batch", "--quiet"] + words, input: input, environment: variables
    ).run().mustSucceed()
  }

  /// Ends the agent, which forgets the passphrase and reads its configuration again.
  package func endAgent() async throws {
    try await Invocation(
      program: "/usr/bin/gpgconf", arguments: ["--kill", "gpg-agent"], environment: variables
    ).run().mustSucceed()
  }

  package var variables: [String: String] { ["HOME": folder, "GNUPGHOME": "\(folder)/gnupg"] }
}
