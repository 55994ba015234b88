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

  @Test("four requests of a process may wait for the reader, and other processes have places")
  func process() {
    let waiting = Array(repeating: request(7), count: 4)
    #expect(
      WaitingLimits.answer(to: request(7), among: waiting)
        == .isRefused("4 requests of this process wait for the reader"))
    #expect(WaitingLimits.answer(to: request(8), among: waiting) == .waits)
  }

  @Test("eight requests of a program may wait for the reader, whatever its processes and copies are called")
  func program() {
    let waiting = (1...8).map { request($0, ProgramFile(device: 1, inode: UInt64($0), owner: 1000)) }
    #expect(
      WaitingLimits.answer(to: request(9), among: waiting)
        == .isRefused("8 requests of this program wait for the reader"))
    #expect(WaitingLimits.answer(to: request(9, Self.installed), among: waiting) == .waits)
    #expect(WaitingLimits.answer(to: request(9, user: 1001), among: waiting) == .waits)
  }

  @Test("sixteen requests of a user may wait for the reader; the program with most yields to one with fewer")
  func user() {
    let waiting = requests(1...8) + requests(9...15, Self.installed) + [request(16, Self.other)]
    #expect(WaitingLimits.answer(to: request(17, Self.other), among: waiting) == .waitsInstead(of: 7))
    let refusal = WaitingLimits.Answer.isRefused("16 requests of this user wait for the reader")
    #expect(WaitingLimits.answer(to: request(17, Self.installed), among: waiting) == refusal)
    #expect(WaitingLimits.answer(to: request(17, user: 1001), among: waiting) == .waits)
  }
}
