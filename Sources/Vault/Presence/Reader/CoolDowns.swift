import VaultStore

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
