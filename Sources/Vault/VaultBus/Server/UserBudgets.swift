internal import SDBus
internal import SecretModel
internal import SecureMemory

/// The memory budgets for the calls of one user's programs and for the answers.
struct UserBudgets: Sendable {
  private let calls: MemoryBudget
  /// For calls that end the wait of others. A separate budget, so that a prompt can be answered however much the other
  /// calls take.
  private let endings: MemoryBudget
  private let answers: MemoryBudget

  init(_ limits: ServingLimits) {
    calls = MemoryBudget(limit: limits.callBytesOfOneUser)
    endings = MemoryBudget(limit: limits.endingBytesOfOneUser)
    answers = MemoryBudget(limit: limits.answerBytesOfOneUser)
  }

  /// The memory of a call with the secrets that it carries, until the call has ended.
  ///
  /// - Parameter endsWaiting: whether the call ends the waiting of another one.
  /// - Throws: `busy` where the user's other calls leave less.
  func share(ofCall arguments: [BusValue], endsWaiting: Bool) throws(VaultError) -> MemoryBudget.Share {
    let budget = endsWaiting ? endings : calls
    // `AddAll` reads the most of one file.
    let secrets = arguments.fileSizes.reduce(0) { $0 + min($1, ItemToAdd.sizeLimit) }
    guard let share = budget.share(arguments.cost + secrets) else {
      throw .busy("the open calls of this user take more than \(budget.mebibytes) MiB")
    }
    return share
  }

  /// The memory of an answer that is about to be made.
  func unreadAnswer() -> UnreadAnswer { UnreadAnswer(answers) }
}

extension [BusValue] {
  /// The bytes of each of the sealed memory files.
  var fileSizes: [Int] { descriptors.compactMap { SealedFile.size(of: $0.rawValue) } }
}
