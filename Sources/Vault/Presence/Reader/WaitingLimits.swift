import VaultStore

/// How many requests may wait for the reader, so that no process and no program of a user shuts out the others of that
/// user.
enum WaitingLimits {
  /// The most of one process.
  static let process = 4
  /// The most of one program, however many processes it has.
  static let program = 8
  /// The most of one user.
  static let user = 16

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
    if let process = applicant.caller.process,
      own.count(where: { waiting[$0].caller.process == process }) >= Self.process
    {
      return .isRefused("\(Self.process) requests of this process wait for the reader")
    }
    var counts: [ReaderApplicant.Program: Int] = [:]
    for index in own { counts[waiting[index].program, default: 0] += 1 }
    let ofProgram = counts[applicant.program] ?? 0
    guard ofProgram < program else { return .isRefused("\(program) requests of this program wait for the reader") }
    guard own.count >= user else { return .waits }
    // The user's places are taken: the program with the most of them gives one up, unless that is the one that asks.
    let last = own.max { (counts[waiting[$0].program] ?? 0, $0) < (counts[waiting[$1].program] ?? 0, $1) }
    guard let last, let most = counts[waiting[last].program], most > ofProgram + 1 else {
      return .isRefused("\(user) requests of this user wait for the reader")
    }
    return .waitsInstead(of: last)
  }
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
