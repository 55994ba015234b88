internal import SDBus
internal import SecretModel
internal import SecureMemory

/// The memory budgets for the calls and contexts of one user's programs and for the answers.
struct UserBudgets: Sendable {
  private let calls: MemoryBudget
  /// For calls that end the wait of others. A separate budget, so that a prompt can be answered however much the other
  /// calls take.
  private let endings: MemoryBudget
  private let answers: MemoryBudget
  private let contexts: MemoryBudget
  /// The memory of an open context, in bytes, roughly.
  private static let contextCost = 4 << 10

  init(_ limits: ServingLimits) {
    calls = MemoryBudget(limit: limits.callBytesOfOneUser)
    endings = MemoryBudget(limit: limits.endingBytesOfOneUser)
    answers = MemoryBudget(limit: limits.answerBytesOfOneUser)
    contexts = MemoryBudget(limit: limits.contextBytesOfOneUser)
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

  /// The memory of a context, until it is closed.
  ///
  /// - Throws: `busy` where the user has too many.
  func shareOfContext() throws(VaultError) -> MemoryBudget.Share {
    guard let share = contexts.share(Self.contextCost) else {
      throw .busy("programs of this user have too many open contexts")
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
