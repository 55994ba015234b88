import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A presence is made from one answer to one challenge")
struct VerifiedPresenceTests {
  static let print = EnrolledPrint(
    id: EnrolmentID(bytes: Array(repeating: 7, count: 16)), template: Template(bytes: [1]))
  static let nonce = ScanNonce(bytes: Array(repeating: 1, count: 16))

  static func challenge(nonce: ScanNonce = nonce, armedAt: UInt64 = 1_000) -> Challenge {
    Challenge(
      owner: 1000, scope: .items([ItemReference(id: [9], revision: 3)]), setDigest: [4],
      generation: [5], gallery: [print], nonce: nonce, armedAt: armedAt)
  }

  static func touch(
    nonce: ScanNonce = nonce, outcome: ScanOutcome = .match(print.id), finishedAt: UInt64 = 2_000
  ) -> Touch {
    Touch(answer: ScanAnswer(nonce: nonce, outcome: outcome, finishedAt: finishedAt))
  }

  private func isRefused(_ touch: Touch, nonce: ScanNonce = Self.nonce, now: UInt64 = 3_000) -> Bool {
    do {
      _ = try VerifiedPresence(verifying: touch, for: Self.challenge(nonce: nonce), now: now)
      return false
    } catch {
      return error == .touchRefused
    }
  }

  @Test("a reader's answer to a challenge becomes a verified presence for exactly the challenge's scope")
  func accepted() throws {
    let presence = try VerifiedPresence(verifying: Self.touch(), for: Self.challenge(), now: 3_000)
    #expect(presence.scope == .items([ItemReference(id: [9], revision: 3)]))
    #expect(presence.enrolment == Self.print.id)
    let grant = try PresenceGrant(
      consuming: VerifiedPresence(
        verifying: Self.touch(), for: Self.challenge(), now: 3_000), owner: 1000, now: 3_000)
    #expect(grant.covers(ItemReference(id: [9], revision: 3)))
    #expect(!grant.covers(ItemReference(id: [9], revision: 4)), "another revision is another item")
    #expect(!grant.covers(ItemReference(id: [8], revision: 3)))
  }

  @Test("a reader's answer without a match, or with an unrequested print, proves no presence")
  func notAMatch() {
    #expect(isRefused(Self.touch(outcome: .noMatch)))
    #expect(isRefused(Self.touch(outcome: .retry(.tooShort))))
    #expect(isRefused(Self.touch(outcome: .match(EnrolmentID(bytes: [1])))))
  }

  @Test("a touch from before the scan was armed, from the future, or older than two seconds is refused")
  func outOfTime() {
    #expect(isRefused(Self.touch(finishedAt: 999)))
    #expect(isRefused(Self.touch(finishedAt: 3_001)))
    #expect(isRefused(Self.touch(), now: 2_000 + VerifiedPresence.lifetime + 1))
    #expect(!isRefused(Self.touch(), now: 2_000 + VerifiedPresence.lifetime))
  }

  @Test("an old touch replayed ten thousand times for fresh challenges is refused each time")
  func replays() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      let nonce = ScanNonce(bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
      #expect(isRefused(Self.touch(), nonce: nonce))
    }
  }

  @Test("a match is valid for ten seconds, since the vault writes to the disk before its use")
  func slowDisk() throws {
    let presence = try VerifiedPresence(verifying: Self.touch(), for: Self.challenge(), now: 3_000)
    _ = try PresenceGrant(consuming: presence, owner: 1000, now: 2_000 + 10_000_000_000)
  }

  @Test("a verified presence that expired before unwrapping is refused")
  func grownOld() throws {
    let presence = try VerifiedPresence(verifying: Self.touch(), for: Self.challenge(), now: 3_000)
    do {
      _ = try PresenceGrant(consuming: presence, owner: 1000, now: 2_000 + 10_000_000_001)
      Issue.record("an old presence was accepted")
    } catch {
      #expect(error == .touchRefused)
    }
  }

  @Test("a verified presence of one user opens nothing of another user")
  func anothersPresence() throws {
    let presence = try VerifiedPresence(verifying: Self.touch(), for: Self.challenge(), now: 3_000)
    do {
      _ = try PresenceGrant(consuming: presence, owner: 1001, now: 3_000)
      Issue.record("another user's presence was accepted")
    } catch {
      #expect(error == .touchRefused)
    }
  }
}
