internal import Glibc
package import Primitives
internal import Processes
package import SecretModel

/// Delivers secrets into the session of their user: to its environment, to a file, to a command.
package struct Delivery: Sendable {
  /// How long a command may take.
  private static let commandLimit = Duration.seconds(5)

  private let runtime: String
  private let environment: [String]

  /// - Parameters:
  ///   - runtime: the user's runtime directory.
  ///   - environment: the environment of the commands, as `NAME=value`.
  package init(runtime: String, environment: [String]) {
    self.runtime = runtime
    self.environment = environment
  }

  /// The folder of the files. It is in the runtime directory: in memory, private to the user, removed after the last
  /// logout.
  package var folder: String { "\(runtime)/whorl-login" }

  /// Checks an entry's name: a variable must be a valid shell name, a file must be in ``folder``.
  ///
  /// - Returns: what is wrong; nil if nothing is.
  package static func flaw(in entry: LoginItem) -> String? {
    switch entry.kind {
    case .environment:
      let scalars = entry.name.unicodeScalars
      guard let first = scalars.first, first == "_" || first.properties.isAlphabetic,
        scalars.allSatisfy({ $0.isASCII && ($0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)) })
      else { return "'\(entry.name)' is no name of a variable" }
      return nil
    case .file:
      guard !entry.name.isEmpty, !entry.name.contains("/"), !entry.name.hasPrefix(".") else {
        return "'\(entry.name)' is no name of a file: give one without a slash that does not begin with a dot"
      }
      return nil
    case .command: return entry.name.isEmpty ? "the command is empty" : nil
    case .gnomeKeyring, .kwallet, .passcode: return nil
    }
  }

  /// Delivers the secret of an entry that names another item.
  package func deliver(_ secret: borrowing SecretBytes, to entry: LoginItem) async throws(WalletError) {
    if let flaw = Self.flaw(in: entry) { throw .refused("to deliver a secret: \(flaw)") }
    switch entry.kind {
    case .environment: try await setVariable(entry.name, to: secret)
    case .file:
      try PrivateFile.makeFolder(folder)
      let path = "\(folder)/\(entry.name)"
      try PrivateFile.write(secret, to: path)
    case .command: try await run(entry.name, giving: secret)
    case .gnomeKeyring, .kwallet, .passcode: throw .refused("to give the secret of a keyring to the session")
    }
  }

  /// Removes a delivered file or variable. A secret given to a command cannot be removed.
  package func takeBack(_ entry: LoginItem) async throws(WalletError) {
    guard Self.flaw(in: entry) == nil else { return }
    switch entry.kind {
    case .environment:
      try await run("/usr/bin/systemctl", ["--user", "unset-environment", entry.name], "to unset \(entry.name)")
    case .file: try PrivateFile.remove("\(folder)/\(entry.name)")
    case .command, .gnomeKeyring, .kwallet, .passcode: return
    }
  }

  /// Sets a variable of the user's service manager and of the programs that it starts from then on. systemctl takes the
  /// value from its environment, not from its arguments, which other users can see.
  private func setVariable(_ name: String, to secret: borrowing SecretBytes) async throws(WalletError) {
    guard secret.withUnsafeBytes({ !$0.contains(0) }) else { throw .unsendable }
    let head = Array("\(name)=".utf8)
    var entry = SecretBytes(count: head.count + secret.count + 1)
    entry.withUnsafeMutableBytes { target in
      target.copyBytes(from: head)
      secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyMemory(from: $0) }
    }
    try await run(
      "/usr/bin/systemctl", ["--user", "import-environment", name], secrets: [SharedSecret(entry)],
      "to set \(name) in the user's service manager")
  }

  /// Runs the user's command line in a shell. The command reads the secret from its standard input.
  private func run(_ command: String, giving secret: borrowing SecretBytes) async throws(WalletError) {
    let file: SealedFile
    do throws(SealedFile.Failure) {
      file = try SealedFile.make(of: secret)
    } catch {
      throw .system("the file for a command's standard input: \(error)")
    }
    // The command shares the file's position, which is behind the written bytes.
    guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw .system("the file for a command's standard input") }
    try await run("/bin/sh", ["-c", command], input: file.descriptor, "to run '\(command)'")
    withExtendedLifetime(file) {}
  }

  private func run(
    _ program: String, _ arguments: [String], secrets: [SharedSecret] = [], input: Int32? = nil, _ what: String
  ) async throws(WalletError) {
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(null) }
    let (child, running): (ChildProcess, Unfinished.Entry)
    do {
      (child, running) = try Unfinished.ofThisProgram.start {
        try ChildProcess(
          HelperProgram(at: program), arguments: [program] + arguments, environment: environment, secrets: secrets,
          standardInput: input ?? null)
      }
    } catch {
      throw .notStarted(program, error)
    }
    let end = await child.end(grace: Self.commandLimit).value
    Unfinished.ofThisProgram.forget(running)
    guard child.hasSucceeded else { throw .refused("\(what): \(end)") }
  }
}
