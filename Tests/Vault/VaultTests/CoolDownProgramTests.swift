import SecretModel
import Testing

@testable import Presence

@Suite("Which programs share a delay after cancelling")
struct CoolDownProgramTests {
  private static let installed = ProgramFile(device: 1, inode: 2, owner: 0)
  private let now: UInt64 = 1_000_000_000

  private func program(_ label: String?, _ file: ProgramFile, process: Int32 = 1) -> ReaderApplicant.Program {
    ReaderApplicant.Program(
      of: Caller(user: 1000, process: .init(id: process, started: UInt64(process)), label: label, file: file))
  }

  @Test("a program that is renamed or copied does not escape its cool-down after a cancelled prompt")
  func renamed() {
    var coolDowns = CoolDowns()
    coolDowns.cancelled(program("thief", ProgramFile(device: 1, inode: 77, owner: 1000)), now: now)
    let copy = ProgramFile(device: 1, inode: 78, owner: 1000)
    #expect(coolDowns.end(for: program("mail", copy, process: 2), now: now) > now)
    coolDowns.cancelled(program("tool", Self.installed), now: now)
    #expect(coolDowns.end(for: program("other", Self.installed, process: 3), now: now) > now)
  }

  @Test("a program that takes another's name gives the other no cool-down after a cancelled prompt")
  func namesake() {
    var coolDowns = CoolDowns()
    coolDowns.cancelled(program("whorl (/usr/bin/whorl)", ProgramFile(device: 1, inode: 77, owner: 1000)), now: now)
    #expect(coolDowns.end(for: program("whorl (/usr/bin/whorl)", Self.installed), now: now) == 0)
  }

  @Test("a program with an unknown file, or one in a FUSE file system, shares the cool-down of the user's own programs")
  func unknown() {
    let files = [ProgramFile.other, ProgramFile(device: 9, inode: 9, owner: nil)]
    let own = ProgramFile(device: 1, inode: 77, owner: 1000)
    for file in files {
      for (cancelling, next) in [(file, own), (own, file), (file, files[0]), (file, files[1])] {
        var coolDowns = CoolDowns()
        coolDowns.cancelled(program("a", cancelling), now: now)
        #expect(coolDowns.end(for: program("b", next, process: 2), now: now) > now)
      }
    }
  }
}
