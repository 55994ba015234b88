internal import Processes

/// Why a wallet could not be read, changed or opened. No case carries a secret.
package enum WalletError: Error, Sendable, Hashable {
  /// The wallet has no file yet, at this path.
  case missing(String)
  /// The wallet's file at this path is damaged; `why` says how.
  case damaged(String, why: String)
  /// The wallet's file, at this path, has no password: its secrets are not encrypted.
  case withoutPassword(String)
  /// The wallet's file at this path has an unsupported encryption, named in `why`.
  case unsupported(String, why: String)
  /// The secret does not open the wallet's file.
  case wrongSecret
  /// The secret cannot be sent: it has a NUL in it.
  case unsendable
  /// The wallet's program is not installed, may not be run, or does not start; the value says why.
  case program(String)
  /// Nobody listens at the wallet's socket.
  case notRunning(String)
  /// The socket belongs to another user.
  case foreign(String, user: UInt32)
  /// The wallet's program did not answer in time, or with a malformed answer; the value says which.
  case noAnswer(String)
  /// The wallet's program refused what was asked of it; the value says what that was.
  case refused(String)
  /// The wallet was changed, but its file does not open with the new secret.
  case unverified
  /// The sealed copy to keep beside the keyring does not give the keyring's secret back.
  case copyUnverified
  /// Another program of this user is running a trial of the wallet.
  case busy
  /// The system refused to read or write; the value says what.
  case system(String)
}

extension WalletError {
  /// Why a program did not start.
  static func notStarted(_ program: String, _ error: any Error) -> Self {
    switch error {
    case let error as HelperProgramError: .program(error.words)
    case let error as ChildStartError: .program("\(program): \(error.words)")
    default: .program("\(program): \(error)")
    }
  }
}
