import Glibc
import Keys
import Primitives
import ReaderClient
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// A set of a virtual reader that is in the store without the passcode's approval, as an earlier Whorl stored it.
@Suite("Fingers of a virtual reader that the passcode has not accepted")
struct AdmissionTests {
  private static let refusal = VaultError.fingersNotAccepted(.virtual)

  @Test("virtual fingers that the passcode has not accepted open nothing, satisfy no policy and bind no item")
  func touch() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let item = try await vault.add("item", .biometryAny)
    try await vault.setAdmission(.fprintd)
    let person = Person(touches: [image.press(.rightIndex)])
    await #expect(throws: Self.refusal) {
      try await person.with(vault) { _ = try await vault.secrets(of: [item], reason: nil, in: $0) }
    }
    await #expect(throws: Self.refusal) {
      try await person.with(vault) { try await vault.evaluate(.biometrics, reason: nil, in: $0) }
    }
    #expect(person.events.isEmpty, "the reader is not armed")
    #expect(await vault.biometryProblem() == Self.refusal)
    await #expect(throws: VaultError.notEnrolled) { _ = try await vault.add("bound", .biometryCurrentSet) }
    await #expect(throws: VaultError.notEnrolled) { _ = try await vault.add("any", .biometryAny) }

    try await vault.setAdmission(.passcode)
    #expect(try await vault.get(of: item, by: Person(touches: [image.press(.rightIndex)])) == "item")
  }

  @Test("a verified touch of a finger that the passcode has not accepted releases nothing")
  func release() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let item = try await vault.add("item", .biometryAny)
    #expect(try await vault.releaseByProvenTouch(item) == "item", "a set that the passcode let in does")
    try await vault.setAdmission(.fprintd)
    await #expect(throws: VaultError.setChanged) { _ = try await vault.releaseByProvenTouch(item) }
  }
}

extension Vault {
  /// Rewrites the store's only set with another admission.
  fileprivate func setAdmission(_ admission: EnrolmentSet.Admission) throws {
    let store = store
    try store.commit { change in
      var set = try #require(try change.sets().first).set
      set.admission = admission
      try change.put(set)
    }
  }

  fileprivate func releaseByProvenTouch(_ item: ItemID) throws -> String {
    let set = try #require(try presence.sets.verified().first)
    let prints = try presence.sets.prints(of: set)
    let nonce = ScanNonce(bytes: randomID())
    let challenge = Challenge(
      owner: store.owner, scope: .context, setDigest: set.digest, generation: set.set.generation, gallery: prints,
      nonce: nonce, armedAt: 1)
    let answer = ScanAnswer(nonce: nonce, outcome: .match(try #require(prints.first).id), finishedAt: 2)
    let presence = try VerifiedPresence(verifying: Touch(answer: answer), for: challenge, now: 3)
    let grant = try PresenceGrant(consuming: presence, owner: store.owner, now: 4)
    return try store.read { snapshot in
      try snapshot.release(snapshot.wanted(.ids([item]), EarlierProofs()), GivenProofs(grant: grant))[0].text
    }
  }

  fileprivate func get(of item: ItemID, by person: Person) async throws -> String {
    try await person.with(self) { try await self.secrets(of: [item], reason: nil, in: $0)[0].text }
  }
}
