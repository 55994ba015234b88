import Primitives
import SoftwareTPM
import Testing
import VaultStore

@Suite("Counters in the TPM, with swtpm")
struct TPMCounterTests {
  private static func secret(_ text: String = "an authorization of this length!") -> SecretBytes {
    SecretBytes(copying: Array(text.utf8).span)
  }

  @Test("TPM counters count by one, survive a power loss, and start above a deleted counter")
  func counting() throws {
    let machine = try SoftwareTPM()
    let counter = try machine.tpm.makeCounter(isOrderly: false, authorization: Self.secret())
    let first = try #require(try machine.tpm.value(of: counter, authorization: Self.secret()))
    for _ in 1...3 { try machine.tpm.increment(counter, authorization: Self.secret()) }
    machine.powerOff()
    try machine.powerOn()
    #expect(try machine.tpm.value(of: counter, authorization: Self.secret()) == first + 3)
    try machine.delete(counter)
    #expect(try machine.tpm.value(of: counter, authorization: Self.secret()) == nil)
    #expect(throws: TPMError.refused("a counter of it is gone")) {
      try machine.tpm.increment(counter, authorization: Self.secret())
    }
    let second = try machine.tpm.makeCounter(isOrderly: false, authorization: Self.secret())
    #expect(second == counter, "its index is free again")
    #expect(try #require(try machine.tpm.value(of: second, authorization: Self.secret())) > first + 3)
  }

  @Test("orderly TPM counters keep their value over a shutdown, and jump to their block's end after a power loss")
  func orderly() throws {
    let machine = try SoftwareTPM()
    let counter = try machine.tpm.makeCounter(isOrderly: true, authorization: Self.secret())
    let first = try #require(try machine.tpm.value(of: counter, authorization: Self.secret()))
    for _ in 1...3 { try machine.tpm.increment(counter, authorization: Self.secret()) }
    try machine.shutDown()
    try machine.powerOn()
    #expect(try machine.tpm.value(of: counter, authorization: Self.secret()) == first + 3)
    try machine.tpm.increment(counter, authorization: Self.secret())
    machine.powerOff()
    try machine.powerOn()
    let jumped = try #require(try machine.tpm.value(of: counter, authorization: Self.secret()))
    #expect(jumped > first + 4)
    #expect(try machine.tpm.valueAfterPowerLoss(of: first + 4) == jumped)
    try machine.tpm.increment(counter, authorization: Self.secret())
    #expect(try machine.tpm.value(of: counter, authorization: Self.secret()) == jumped + 1)
  }

  @Test("TPM counters open only with their own authorization value, and wrong values lock nothing")
  func authorization() throws {
    let machine = try SoftwareTPM()
    try machine.setLockout(limit: 2)
    let counter = try machine.tpm.makeCounter(isOrderly: true, authorization: Self.secret())
    let first = try #require(try machine.tpm.value(of: counter, authorization: Self.secret()))
    for _ in 1...3 {
      #expect(try machine.tpm.value(of: counter, authorization: Self.secret("another one")) == nil)
      #expect(throws: TPMError.wrongAuthorization) {
        try machine.tpm.increment(counter, authorization: Self.secret("another one"))
      }
    }
    #expect(try machine.tpm.value(of: counter, authorization: Self.secret()) == first)
    let other = try machine.tpm.makeCounter(isOrderly: true, authorization: Self.secret("another one"))
    #expect(other != counter)
    try machine.setOwnerPassword("owner")
    #expect(throws: TPMError.ownerPassword) {
      _ = try machine.tpm.makeCounter(isOrderly: true, authorization: Self.secret())
    }
  }
}
