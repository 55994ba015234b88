import SecretModel
import Testing

@testable import Presence

@Suite("Which programs share a time to wait")
struct CoolDownProgramTests {
  private static let installed = ProgramFile(device: 1, inode: 2, owner: 0)
  private let now: UInt64 = 1_000_000_000

  private func program(_ label: String?, _ file: ProgramFile, process: Int32 = 1) -> ReaderApplicant.Program {
    ReaderApplicant.Program(
      of: Caller(user: 1000, process: .init(id: process, started: UInt64(process)), label: label, file: file))
  }

  @Test("a program that gives itself another name, or starts a copy of itself, does not escape it")
  func renamed() {
    var coolDowns = CoolDowns()
    coolDowns.cancelled(program("thief", ProgramFile(device: 1, inode: 77, owner: 1000)), now: now)
    let copy = ProgramFile(device: 1, inode: 78, owner: 1000)
    #expect(coolDowns.end(for: program("mail", copy, process: 2), now: now) > now)
    coolDowns.cancelled(program("tool", Self.installed), now: now)
    #expect(coolDowns.end(for: program("other", Self.installed, process: 3), now: now) > now)
  }

  @Test("a program that takes another's name does not put that one behind")
  func namesake() {
    var coolDowns = CoolDowns()
    coolDowns.cancelled(program("whorl (/usr/bin/whorl)", ProgramFile(device: 1, inode: 77, owner: 1000)), now: now)
    #expect(coolDowns.end(for: program("whorl (/usr/bin/whorl)", Self.installed), now: now) == 0)
  }

  @Test(
    "a program whose file the kernel does not reveal, or a file system in user space makes up, is one of the user's own"
  )
  func unknown() {
    var coolDowns = CoolDowns()
    coolDowns.cancelled(program("a", .other), now: now)
    #expect(coolDowns.end(for: program("b", ProgramFile(device: 9, inode: 9, owner: nil)), now: now) > now)
  }
}
