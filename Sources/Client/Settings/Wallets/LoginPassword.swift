internal import Glibc
package import Primitives
internal import Processes

/// The password of this user's account.
///
/// It is checked as PAM does in a program without root's rights: by `unix_chkpwd`, which may read the machine's shadow
/// file and checks only the caller's own account. It does not count failures, and logs a wrong password in the system's
/// log.
package enum LoginPassword {
  /// The result of a check.
  package enum Answer: Sendable, Hashable {
    case right
    case wrong
    /// The password is not in this machine's files, or they cannot be read.
    ///
    /// - Parameter why: in words that follow "your login password cannot be checked here".
    case unknown(why: String)
  }

  /// Where distributions install PAM's helper. `PATH` is not used.
  private static let places = ["/usr/sbin/unix_chkpwd", "/sbin/unix_chkpwd", "/usr/bin/unix_chkpwd"]
  /// `PAM_MAX_RESP_SIZE`: no login takes a longer one.
  private static let lengthLimit = 512
  /// `PAM_AUTH_ERR` of `security/_pam_types.h`: the helper's exit status for a wrong password.
  private static let wrongStatus: Int32 = 7
  /// Hashes may be made slow on purpose.
  private static let limit = Duration.seconds(30)

  /// Compares a word with the password of this process's user.
  package static func check(_ word: borrowing SecretBytes) async -> Answer {
    guard !word.isEmpty, word.count < lengthLimit, !word.withUnsafeBytes({ $0.contains(0) }) else { return .wrong }
    let user = getuid()
    guard let name = Account.name(of: user), Account.hasPasswordHere(user) else {
      return .unknown(why: "it is not stored on this machine")
    }
    guard let path = places.first(where: { access($0, X_OK) == 0 }) else {
      return .unknown(why: "PAM's unix_chkpwd is not installed")
    }
    do {
      let (child, running) = try start(HelperProgram(at: path), name, word)
      _ = await child.end(grace: limit).value
      Unfinished.ofThisProgram.forget(running)
      switch child.exitStatus {
      case 0: return .right
      case wrongStatus: return .wrong
      default: return .unknown(why: "\(path) gave no result")
      }
    } catch let error as HelperProgramError {
      return .unknown(why: error.words)
    } catch {
      return .unknown(why: "\(path) cannot be asked: \(error)")
    }
  }

  /// Starts the helper. It reads the word from its standard input, up to a NUL.
  private static func start(
    _ program: HelperProgram, _ name: String, _ word: borrowing SecretBytes
  ) throws -> (value: ChildProcess, entry: Unfinished.Entry) {
    var input = try SealedFile.Writer()
    _ = try input.append(word)
    _ = try input.append(SecretBytes(count: 1))
    let file = try input.seal()
    return try Unfinished.ofThisProgram.start {
      try ChildProcess(
        program, arguments: [program.path, name, "nonull"], environment: ["LC_ALL=C"], standardInput: file.descriptor)
    }
  }
}
