import VaultStore

/// How many requests may wait for the reader. The number protects the service's memory alone: that the requests of one
/// program or process do not shut out others is the business of ``ReaderTurns``.
enum WaitingLimits {
  /// The most of one user: as a script starts that asks for many secrets at once, and more than there are connections.
  static let user = 512
  /// The most of one user that are over this limit and still may reject the request that has the reader.
  static let outside = 4

  /// The decision about one more request.
  enum Answer: Equatable {
    case waits
    /// It waits, and the request at this index of the queue is refused for it.
    case waitsInstead(of: Int)
    /// It is refused, since so many requests of this origin wait.
    case isRefused(String)
  }

  /// - Parameter waiting: the queue. Each request that came later is behind the earlier ones of its program.
  static func answer(to applicant: ReaderApplicant, among waiting: [ReaderApplicant]) -> Answer {
    let own = waiting.indices.filter { waiting[$0].caller.user == applicant.caller.user }
    guard own.count >= user else { return .waits }
    // The user's places are taken: the program with the most of them gives one up, unless that is the one that asks.
    var counts: [ReaderApplicant.Program: Int] = [:]
    for index in own { counts[waiting[index].program, default: 0] += 1 }
    let last = own.max { (counts[waiting[$0].program] ?? 0, $0) < (counts[waiting[$1].program] ?? 0, $1) }
    guard let last, let most = counts[waiting[last].program], most > (counts[applicant.program] ?? 0) + 1 else {
      return .isRefused("\(user) requests of this user wait for the reader")
    }
    return .waitsInstead(of: last)
  }
}

/// The turns that users, programs and processes have had at the reader. They take turns: first the users, then the
/// programs of a user, then the processes of a program. So one with many requests delays the others by one of them.
struct ReaderTurns {
  /// How many are remembered of each kind. Those whose last turn was longest ago are forgotten first: they come first
  /// also when they are new.
  private static let limit = 4_096

  /// When something had its last turn, as the number of that turn.
  private struct Lasts<Key: Hashable> {
    private var turns: [Key: UInt64] = [:]

    subscript(key: Key) -> UInt64 { turns[key] ?? 0 }

    mutating func note(_ turn: UInt64, of key: Key) {
      turns[key] = turn
      guard turns.count > ReaderTurns.limit else { return }
      let oldest = turns.values.sorted()[ReaderTurns.limit / 2]
      turns = turns.filter { $0.value > oldest }
    }
  }

  private var last: UInt64 = 0
  private var users = Lasts<UInt32>()
  private var programs = Lasts<ReaderApplicant.Program>()
  private var processes = Lasts<Caller.ProcessInstance?>()

  mutating func note(_ applicant: ReaderApplicant) {
    last += 1
    users.note(last, of: applicant.caller.user)
    programs.note(last, of: applicant.program)
    processes.note(last, of: applicant.caller.process)
  }

  func lastTurn(ofUserOf applicant: ReaderApplicant) -> UInt64 { users[applicant.caller.user] }
  func lastTurn(ofProgramOf applicant: ReaderApplicant) -> UInt64 { programs[applicant.program] }
  func lastTurn(ofProcessOf applicant: ReaderApplicant) -> UInt64 { processes[applicant.caller.process] }
}

/// How long programs that armed the reader and cancelled must let others go first. The time grows with each cancel, so
/// that no program can keep the reader from others by repeated requests.
struct CoolDowns {
  /// In nanoseconds, like all times here.
  static let first: UInt64 = 1_000_000_000
  static let longest: UInt64 = 30_000_000_000
  /// After this time without a cancel, earlier cancels are forgotten.
  static let memory: UInt64 = 300_000_000_000

  private struct Cancels {
    var count = 0
    var last: UInt64 = 0

    var end: UInt64 { last + min(longest, first << UInt64(min(count - 1, 10))) }
    func isForgotten(_ now: UInt64) -> Bool { now >= last + memory }
  }

  private var cancels: [ReaderApplicant.Program: Cancels] = [:]

  mutating func cancelled(_ program: ReaderApplicant.Program, now: UInt64) {
    cancels = cancels.filter { !$0.value.isForgotten(now) }
    cancels[program, default: Cancels()].count += 1
    cancels[program]?.last = now
  }

  mutating func succeeded(_ program: ReaderApplicant.Program) { cancels[program] = nil }

  /// The time until which the program must let others go first; 0 without a cool-down.
  func end(for program: ReaderApplicant.Program, now: UInt64) -> UInt64 {
    guard let end = cancels[program]?.end, end > now else { return 0 }
    return end
  }
}
