import ArgumentParser
import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings

struct SyncIdentity: Command {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Print the identity with which age opens the shared repository.",
    discussion: """
      For a day without whorl: with this identity, age and git alone open every file of the repository. It is made from the \
      recovery key of one of the computers that share, and opens what that opens: keep it like the recovery key. \
      docs/sync-format.md says what the files are, and how the identity is derived.

      Example:
        git clone git@example.com:me/secrets.git secrets
        whorl sync identity secrets > identity
        age --decrypt --identity identity secrets/items/0a/...
      """)

  static let spoken = "sync identity"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("A clone of the shared repository.", valueName: "folder"))
  var folder: String

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func perform(_ session: Session, _: Hardening) async throws(Failure) {
    let records = try self.records()
    _ = try await session.openStore()
    let answers = session.answers(recoveryKey: recoveryFd)
    let identity = try await answers.withRetypedRecoveryKey { () async throws(Failure) in
      let key = try recoveryKey(answers)
      return try await session.request {
        SharedSecret(try await $0.sync.identity(records: records, recoveryKey: key.copy()))
      }
    }
    do throws(WriteError) {
      try identity.bytes.write(to: STDOUT_FILENO)
    } catch {
      throw Failure(.inputOutput, "the identity cannot be written: \(error)", advice: "check where the output goes")
    }
    try StandardOutput.line("")
  }

  private func records() throws(Failure) -> [SyncFile] {
    var records: [SyncFile] = []
    while let contents = try contents(of: SyncFile.circleRecord(records.count + 1)) {
      records.append(SyncFile(SyncFile.circleRecord(records.count + 1), contents))
    }
    guard !records.isEmpty else {
      throw Failure(
        .notFound, "\(folder) is no clone of a shared repository", advice: "clone it first: git clone REMOTE shared")
    }
    return records
  }

  /// Nil if there is no such file.
  private func contents(of path: String) throws(Failure) -> [UInt8]? {
    let descriptor = open("\(folder)/\(path)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(path, String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    do throws(ReadError) {
      return try SecretBytes.read(from: descriptor, limit: SyncFile.sizeLimit).withUnsafeBytes { Array($0) }
    } catch {
      throw unreadable(path, "\(error)")
    }
  }

  private func unreadable(_ path: String, _ why: String) -> Failure {
    Failure(.inputOutput, "\(folder)/\(path) cannot be read: \(why)", advice: "check the permissions of the clone")
  }

  private func recoveryKey(_ answers: Answers) throws(Failure) -> SharedSecret {
    if let recoveryFd { return SharedSecret(try answers.line(of: recoveryFd, "recovery key")) }
    return try Answers.typed("the recovery key", or: "--recovery-fd") { terminal throws(Unanswered) in
      try terminal.readRecoveryKey("Recovery key of one of the machines")
    }
  }
}
