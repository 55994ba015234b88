internal import Glibc
internal import SDBus
internal import SecretModel

/// The memory that the calls of one user's programs take, and the answers to them.
struct UserBudgets: Sendable {
  private let calls: MemoryBudget
  private let answers: MemoryBudget

  init(_ limits: VaultBusListener.Limits) {
    calls = MemoryBudget(limit: limits.callBytesOfOneUser)
    answers = MemoryBudget(limit: limits.answerBytesOfOneUser)
  }

  /// The memory of a call, until the call has ended.
  ///
  /// - Throws: `busy` where the user's other calls leave less.
  func share(ofCall arguments: [BusValue]) throws(VaultError) -> MemoryBudget.Share {
    guard let share = calls.share(arguments.cost) else {
      throw .busy("the open calls of this user take more than \(calls.mebibytes) MiB")
    }
    return share
  }

  /// The memory of the files with secrets in an answer, until the client has read it. Nil where it has none.
  ///
  /// - Throws: `busy` where the answers that the user's programs have not read leave less.
  func share(ofAnswer values: [BusValue]) throws(VaultError) -> MemoryBudget.Share? {
    let bytes = values.descriptors.reduce(0) { $0 + $1.fileSize }
    guard bytes > 0 else { return nil }
    guard let share = answers.share(bytes) else {
      throw .busy("programs of this user leave more than \(answers.mebibytes) MiB of answers unread")
    }
    return share
  }
}

extension BusDescriptor {
  /// The size of a file in bytes; 0 for a socket.
  fileprivate var fileSize: Int {
    var status = stat()
    return fstat(rawValue, &status) == 0 ? status.st_size : 0
  }
}
