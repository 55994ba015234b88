import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("What a person has shown for a passkey")
struct PasskeyEvidenceTests {
  private static let hash = [UInt8](repeating: 7, count: 32)

  private func new(_ access: AccessControl.Constraint) -> NewPasskey {
    NewPasskey(
      relyingParty: "example.com", user: Passkey.User(handle: [1], name: "alice", displayName: ""),
      algorithm: .ed25519, isDiscoverable: true, clientDataHash: Self.hash, access: AccessControl(access))
  }

  @Test("a touch that was given for something else makes no passkey and signs in nowhere")
  func reused() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    let new = new(.anyFinger)
    let (item, _) = try await Person(touches: [image.press(.rightIndex)]).with(session) {
      try await session.makePasskey(new, Asking(in: $0))
    }
    /// Calls in a context that accepts a touch of another one, which was just given.
    func reusing(_ call: (Asking) async throws -> Void) async throws {
      _ = try await Person(touches: [image.press(.rightIndex)]).with(session, .keepingEvidence(.never)) {
        try await session.evaluate(.policy(.biometrics), Asking(in: $0))
      }
      var options = ContextOptions.keepingEvidence(.never)
      (options.interactionNotAllowed, options.reuseDuration) = (true, .seconds(60))
      let (handle, _) = try await session.openContext(ContextOptions())
      try await call(Asking(in: handle, options: options))
    }
    await #expect(throws: VaultError.touchRefused) {
      try await reusing { _ = try await session.makePasskey(new, $0) }
    }
    await #expect(throws: VaultError.touchRefused) {
      try await reusing {
        _ = try await session.assertPasskeys([item.id], PasskeyAssertion(clientDataHash: Self.hash), $0)
      }
    }
    #expect(try await vault.items(ItemSearch(.passkey)).map(\.id) == [item.id])
    await vault.shutdown()
  }

  @Test("a passcode that another program changes after it was typed makes no passkey")
  func changed() async throws {
    let store = try await ScratchStore()
    let (vault, other) = (try store.open(), try store.open())
    let new = new(.presence)
    await #expect(throws: VaultError.busy("the passcode was changed meanwhile")) {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { handle in
        try await vault.makePasskey(new, in: handle) {
          let changer = Person(passcodes: [ScratchStore.passcode], newPasscode: "another one")
          try await changer.with(other) { try await other.changePasscode(in: $0) }
        }
      }
    }
    #expect(try await other.items(ItemSearch(.passkey)).isEmpty)
  }

  @Test("a program that cancelled requests for a touch is not delayed any more once it has made a passkey")
  func coolDown() async throws {
    let image = try await ImageReaderStore()
    let desk = ReaderDesk(image.process, locks: ReaderLocks(runtimeFolder: image.store.folder))
    let vault = try image.store.open(desk: desk)
    _ = try await image.enroll(.rightIndex, in: vault)
    let caller = Caller(user: vault.owner)
    let session = try VaultSession(of: vault, for: caller)
    let (new, program) = (new(.anyFinger), ReaderApplicant.Program(of: caller))
    let claim = { () async throws(VaultError) in
      try await desk.claim(
        for: ReaderApplicant(caller: caller, purpose: .evaluate(reason: nil)),
        storeLock: "\(image.store.folder)/cancelled.lock", told: { _ in })
    }
    for _ in 1...10 { try await claim().end(.cancelled) }
    #expect(await desk.coolDownEnd(of: program) > 0)
    _ = try await Person(touches: [image.press(.rightIndex)]).with(session) {
      try await session.makePasskey(new, Asking(in: $0))
    }
    #expect(await desk.coolDownEnd(of: program) == 0)
    await vault.shutdown()
  }
}

extension Vault {
  /// Makes a passkey, with something that happens between the proof and its use.
  fileprivate func makePasskey(
    _ new: NewPasskey, in handle: ContextHandle, after happening: @Sendable () async throws -> Void
  ) async throws {
    let turn = try await presence.contexts.turn(of: Request(of: itself, Asking(in: handle)))
    let evidence = try await presence.authorizer.evidence(for: new.access, reason: nil, turn.context)
    try await happening()
    _ = try await catalogue.makePasskey(new, evidence)
  }
}
