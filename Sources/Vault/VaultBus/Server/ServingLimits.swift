internal import SDBus
internal import SecretModel

/// The limits for the clients of a listening socket.
package struct ServingLimits: Sendable {
  /// The most connections at a time.
  package var connections = 4_096
  /// The most connections of one user at a time.
  package var connectionsOfOneUser = 64
  /// The most connections of one process, so that it leaves some to the others of its user. `whorl-agent` has one for
  /// each of its clients that it serves.
  package var connectionsOfOneProcess = 48
  /// The most connections of one user that wait for another one of the user to end: as of a script that starts `whorl get`
  /// many times at once.
  package var waitingOfOneUser = 448
  /// How long they wait. After that their calls are refused.
  package var waitingTime = Duration.seconds(10)
  /// How long a client may take for its hello, as its program may wait for a processor or its disk. One that has said
  /// hello may wait for ever, so this protects nothing but the places of programs that hang.
  package var greeting = Duration.seconds(30)
  /// The memory that the open calls of one user may take, in bytes.
  package var callBytesOfOneUser = 128 << 20
  /// The memory that the open contexts of one user may take, in bytes.
  package var contextBytesOfOneUser = 16 << 20
  /// The memory that answers to prompts and other calls that end the waiting of one user's calls may take, in bytes.
  package var endingBytesOfOneUser = 16 << 20
  /// The memory that the unread answers of one user may take, in bytes: as much as the largest answer.
  package var answerBytesOfOneUser = ReleasedItem.sizeLimit + VaultInterface.answerLimit

  package init() {}
}

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
