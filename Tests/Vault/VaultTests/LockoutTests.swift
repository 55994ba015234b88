import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultStore

@Suite("The lockout counts a touch before its result, and uncounts only what was no failure")
struct LockoutTests {
  private func clock(boot: String = "one", now: UInt64 = 0) -> BootClock {
    BootClock(bootID: { boot }, now: { now })
  }

  @Test("five touches in a row without a match lock biometry, and no scan is armed afterwards")
  func fiveInARow() throws {
    var lockout = Lockout()
    for touch in 1...5 {
      try lockout.arm([UInt8(touch)])
      lockout.failed([UInt8(touch)])
    }
    #expect(lockout.lockedOut)
    #expect(throws: VaultError.biometryLockout) { try lockout.arm([6]) }
  }

  @Test("the largest failure counts and delays that a forged backup can have do not overflow")
  func largestNumbers() {
    let clock = clock(boot: "one", now: 1)
    var tries = Tries(failures: .max, boot: "one", until: .max)
    #expect(tries.remainingDelay(clock) == 18_446_744_074)
    tries.charge(clock)
    #expect(tries.failures == .max)
    #expect(tries.remainingDelay(clock) == 3_600)
  }

  @Test("an armed scan is counted as a failed touch before it runs, so a crash does not make it free")
  func chargedAhead() throws {
    var lockout = Lockout()
    try lockout.arm([1])
    #expect(lockout.failures == 1)
  }

  @Test("a match resets the count of failed touches, and a cancelled or repeated scan gives back only its own count")
  func refunds() throws {
    var lockout = Lockout()
    for touch in 1...3 {
      try lockout.arm([UInt8(touch)])
      lockout.failed([UInt8(touch)])
    }
    try lockout.arm([4])
    lockout.refund([4])
    #expect(lockout.failures == 3)
    lockout.refund([4])
    #expect(lockout.failures == 3, "a charge is given back once")
    try lockout.arm([5])
    lockout.refund([9])
    #expect(lockout.failures == 4, "nobody gives back another's charge")
    lockout.matched()
    #expect(lockout.failures == 0)
  }

  @Test("a failed touch that is reported after the passcode reset the count is still counted")
  func lateFailure() throws {
    var lockout = Lockout()
    try lockout.arm([1])
    lockout.clear()
    lockout.failed([1])
    #expect(lockout.failures == 1)
  }

  @Test("four wrong passcodes are free, then the delay is 1, 5, 15, 15 and 60 minutes")
  func passcodeDelays() {
    var lockout = Lockout()
    var waits: [Int] = []
    for _ in 1...11 {
      lockout.passcode.charge(clock())
      waits.append(lockout.passcode.remainingDelay(clock()) / 60)
    }
    #expect(waits == [0, 0, 0, 0, 1, 5, 15, 15, 60, 60, 60])
  }

  @Test("a delay after wrong passcodes follows the boot clock and is over at its end")
  func delayRunsDown() {
    var lockout = Lockout()
    for _ in 1...6 { lockout.passcode.charge(clock(now: 1_000)) }
    #expect(lockout.passcode.remainingDelay(clock(now: 1_000)) == 300)
    #expect(lockout.passcode.remainingDelay(clock(now: 1_000 + 299_000_000_001)) == 1)
    #expect(lockout.passcode.remainingDelay(clock(now: 1_000 + 300_000_000_000)) == 0)
  }

  @Test("a delay after wrong passcodes applies as a whole again after a reboot, whatever the clock says")
  func anotherBoot() {
    var lockout = Lockout()
    for _ in 1...7 { lockout.passcode.charge(clock(now: 5)) }
    let rebooted = clock(boot: "two", now: UInt64.max / 2)
    #expect(lockout.passcode.remainingDelay(rebooted) == 15 * 60)
    #expect(lockout.passcode.needsNewDelay(rebooted))
    lockout.passcode.startDelay(clock(boot: "two", now: 10))
    #expect(lockout.passcode.remainingDelay(clock(boot: "two", now: 10)) == 15 * 60)
  }
}
