import SecretModel
import Testing

@testable import Presence
@testable import VaultItems

@Suite("How many requests may wait for the reader")
struct WaitingLimitsTests {
  private func request(
    _ process: Int32, _ file: ProgramFile = .other, user: UInt32 = 1000
  ) -> ReaderApplicant {
    ReaderApplicant(
      caller: Caller(user: user, process: .init(id: process, started: 1), label: "p\(process)", file: file),
      purpose: nil)
  }

  private func requests(_ processes: ClosedRange<Int32>, _ file: ProgramFile = .other) -> [ReaderApplicant] {
    processes.map { request($0, file) }
  }

  private static let installed = ProgramFile(device: 1, inode: 2, owner: 0)
  private static let other = ProgramFile(device: 1, inode: 3, owner: 0)

  @Test("512 requests of a user may wait for the reader; the program with most yields to one with fewer")
  func user() {
    let waiting =
      requests(1...300) + requests(301...510, Self.installed) + requests(511...512, Self.other)
    #expect(waiting.count == WaitingLimits.user)
    #expect(WaitingLimits.answer(to: request(513), among: Array(waiting.dropLast())) == .waits)
    #expect(WaitingLimits.answer(to: request(513, Self.other), among: waiting) == .waitsInstead(of: 299))
    let refusal = WaitingLimits.Answer.isRefused("512 requests of this user wait for the reader")
    #expect(WaitingLimits.answer(to: request(513), among: waiting) == refusal)
    #expect(WaitingLimits.answer(to: request(513, user: 1001), among: waiting) == .waits)
  }

  @Test("a program's turns at the reader are remembered while thousands of others have theirs")
  func memory() {
    var turns = ReaderTurns()
    for process in 1...10_000 as ClosedRange<Int32> {
      turns.note(request(process, ProgramFile(device: 1, inode: UInt64(process), owner: 0)))
    }
    let last = request(10_000, ProgramFile(device: 1, inode: 10_000, owner: 0))
    #expect(turns.lastTurn(ofUserOf: last) == 10_000)
    #expect(turns.lastTurn(ofProgramOf: last) == 10_000)
    #expect(turns.lastTurn(ofProcessOf: last) == 10_000)
    let first = request(1, ProgramFile(device: 1, inode: 1, owner: 0))
    #expect(turns.lastTurn(ofProgramOf: first) == 0 && turns.lastTurn(ofProcessOf: first) == 0, "forgotten")
  }
}
