import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

/// The evidence of a context opens nothing after the context has ended, and is asked for only once.
@Suite("Proofs in a context")
struct EvidenceTests {
  private static let right = ScratchStore.passcode
  private static let keeping = ContextOptions.keepingEvidence(.afterNoMatch)

  private static func enroll(_ finger: Finger, in vault: Vault) async throws {
    _ = try await Person(passcodes: [right]).with(vault) { try await vault.enroll(finger, in: $0) }
  }

  /// The results of several calls.
  private final class Ends: Sendable {
    private let errors = Mutex<[VaultError]>([])

    var all: [VaultError] { errors.withLock { $0 } }

    func note(_ call: () async throws(VaultError) -> Void) async {
      do throws(VaultError) {
        try await call()
      } catch {
        errors.withLock { $0.append(error) }
      }
    }
  }

  private static func passcodesAsked(of person: Person) -> Int {
    person.events.filter { if case .secretWanted(.passcode) = $0 { true } else { false } }.count
  }

  @Test("closing a context ends every call that waits in it")
  func queuedCalls() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let item = try await vault.add("item", .devicePasscode)
    let (handle, events) = try await vault.openContext(Self.keeping)
    let ends = Ends()
    for _ in 1...4 {
      Task {
        await ends.note { () async throws(VaultError) in
          _ = try await vault.secrets(of: [item], reason: nil, in: handle)
        }
      }
    }
    for await event in events {
      guard case .secretWanted = event.event else { continue }
      try await Task.sleep(for: .milliseconds(100))
      await vault.closeContext(handle, reason: .appCancelled)
    }
    for _ in 1...100 where ends.all.count < 4 { try await Task.sleep(for: .milliseconds(50)) }
    #expect(ends.all.count == 4)
    #expect(ends.all.filter { $0 == .appCancelled }.count == 1)
    #expect(ends.all.filter { $0 == .contextInvalidated }.count == 3)
  }

  @Test("a context that is closed while the reader answers releases nothing, and leaves no match for reuse")
  func closedAtTheMatch() async throws {
    let store = try await ScratchStore()
    let closing = Mutex<ContextHandle?>(nil)
    let box = Mutex<Vault?>(nil)
    let reader = InterposedReader(
      real: ScriptedReader(),
      at: { step in
        guard step == .answered, let handle = closing.withLock({ $0 }), let vault = box.withLock({ $0 }) else { return }
        await vault.closeContext(handle, reason: .appCancelled)
      })
    let vault = try store.open(reader: reader)
    box.withLock { $0 = vault }
    try await Self.enroll(.rightIndex, in: vault)
    let item = try await vault.add("item", .biometryAny)
    for call in ["read", "evaluate"] {
      let (handle, _) = try await vault.openContext(Self.keeping)
      closing.withLock { $0 = handle }
      await #expect(throws: VaultError.appCancelled, "\(call)") {
        if call == "read" {
          _ = try await vault.secrets(of: [item], reason: nil, in: handle)
        } else {
          try await vault.evaluate(.biometrics, reason: nil, in: handle)
        }
      }
    }
    closing.withLock { $0 = nil }
    var silent = Self.keeping
    (silent.interactionNotAllowed, silent.reuseDuration) = (true, .seconds(60))
    let (handle, _) = try await vault.openContext(silent)
    #expect(try await !vault.isSatisfied(item, by: handle))
  }

  @Test("a context that is closed while its passcode is checked releases nothing")
  func closedAtThePasscode() async throws {
    let store = try await ScratchStore()
    let closing = Mutex<(vault: Vault, handle: ContextHandle)?>(nil)
    let system = BootClock.system
    // The vault reads the clock when it counts the try: after the passcode was given and before scrypt.
    let clock = BootClock(
      bootID: system.bootID,
      now: {
        if let (vault, handle) = closing.withLock({ $0.take() }) {
          vault.assumeIsolated { $0.closeContext(handle, reason: .appCancelled) }
        }
        return system.now()
      })
    let vault = try store.open(clock: clock)
    let item = try await vault.add("item", .devicePasscode)
    let (handle, events) = try await vault.openContext(Self.keeping)
    let listener = Task {
      for await event in events {
        guard case .secretWanted = event.event else { continue }
        closing.withLock { $0 = (vault, handle) }
        await vault.respond(handle, .secret(question: event.number, SecretBytes(text: Self.right)))
      }
    }
    await #expect(throws: VaultError.appCancelled) {
      _ = try await vault.secrets(of: [item], reason: nil, in: handle)
    }
    #expect(closing.withLock { $0 } == nil, "it was closed by the clock")
    await listener.value
  }

  @Test("a reused fingerprint match expires when the reuse duration has passed since the touch")
  func reusedMatch() async throws {
    let store = try await ScratchStore()
    let system = BootClock.system
    let later = Mutex<UInt64>(0)
    let clock = BootClock(
      bootID: system.bootID, now: { system.now() + later.withLock { $0 } * 1_000_000_000 })
    let vault = try store.open(reader: ScriptedReader(), clock: clock)
    try await Self.enroll(.rightIndex, in: vault)
    let any = try await vault.add("any", .biometryAny)
    let both = try await vault.add("both", [.biometryAny, .devicePasscode])
    try await Person().with(vault, Self.keeping) { try await vault.evaluate(.biometrics, reason: nil, in: $0) }
    var reusing = Self.keeping
    reusing.reuseDuration = .seconds(300)
    try await Person(passcodes: [Self.right]).with(vault, reusing) { handle in
      let released = try await vault.secrets(of: [both], reason: nil, in: handle)
      #expect(released[0].text == "both", "by the match of before and the passcode")
      #expect(try await vault.isSatisfied(any, by: handle))
      later.withLock { $0 = 301 }
      #expect(try await !vault.isSatisfied(any, by: handle))
    }
  }

  @Test("a reused fingerprint match opens no item that is bound to the enrolled fingers")
  func reusedForBound() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    let any = try await vault.add("any", .biometryAny)
    let bound = try await vault.add("bound", .biometryCurrentSet)
    try await Person().with(vault, Self.keeping) { try await vault.evaluate(.biometrics, reason: nil, in: $0) }
    var reusing = Self.keeping
    (reusing.interactionNotAllowed, reusing.reuseDuration) = (true, .seconds(300))
    let silent = reusing
    try await Person().with(vault, silent) { handle in
      let released = try await vault.secrets(of: [any], reason: nil, in: handle)[0].text
      #expect(released == "any")
      await #expect(throws: VaultError.interactionNotAllowed) {
        _ = try await vault.secrets(of: [bound], reason: nil, in: handle)
      }
      await #expect(throws: VaultError.interactionNotAllowed) {
        try await vault.evaluate(AccessControl(.currentSet), reason: nil, in: handle)
      }
    }
    var asking = silent
    asking.interactionNotAllowed = false
    try await Person().with(vault, asking) { handle in
      let released = try await vault.secrets(of: [bound], reason: nil, in: handle)[0].text
      #expect(released == "bound", "by a touch of its own")
    }
  }

  @Test("a restore detected while an application password is typed invalidates the earlier fingerprint match")
  func restoredMeanwhile() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    let (adding, _) = try await vault.openContext(Self.keeping)
    await vault.setApplicationPassword(SecretBytes(text: "a password"), of: adding)
    let access = try AccessControl([.biometryAny, .applicationPassword])
    let item = try await vault.add(
      NewItem(.genericPassword, [.service: .text("item")], access: access), secret: SecretBytes(text: "secret"),
      in: adding
    ).id
    for isRestored in [false, true] {
      let (handle, events) = try await vault.openContext(Self.keeping)
      let listener = Task {
        for await event in events {
          guard case .secretWanted(.applicationPassword) = event.event else { continue }
          if isRestored { try store.restore(["state"], from: "/nonexistent") }
          await vault.respond(handle, .secret(question: event.number, SecretBytes(text: "a password")))
        }
      }
      try await vault.evaluate(.biometrics, reason: nil, in: handle)
      if isRestored {
        await #expect(throws: VaultError.restoreDetected) {
          _ = try await vault.secrets(of: [item], reason: nil, in: handle)
        }
      } else {
        #expect(try await vault.secrets(of: [item], reason: nil, in: handle)[0].text == "secret")
      }
      await vault.closeContext(handle)
      try await listener.value
    }
  }

  @Test("a fingerprint match from before a lockout is not reused during the lockout")
  func reuseUnderLockout() async throws {
    let store = try await ScratchStore()
    let reader = ScriptedReader()
    let vault = try store.open(reader: reader)
    try await Self.enroll(.rightIndex, in: vault)
    let any = try await vault.add("any", .biometryAny)
    try await Person().with(vault, Self.keeping) { try await vault.evaluate(.biometrics, reason: nil, in: $0) }
    reader.next(.noMatch, .noMatch, .noMatch, .noMatch, .noMatch)
    for _ in 1...2 {
      _ = try? await Person().with(vault) { try await vault.evaluate(.biometrics, reason: nil, in: $0) }
    }
    #expect(try await vault.status().lockedOut)
    var reusing = Self.keeping
    (reusing.interactionNotAllowed, reusing.reuseDuration) = (true, .seconds(300))
    try await Person().with(vault, reusing) { handle in
      let satisfied = try await vault.isSatisfied(any, by: handle)
      #expect(!satisfied)
    }
  }

  @Test("a passcode given in a context is not asked for again for an item that needs a finger, too")
  func passcodeOnce() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    let passcode = try await vault.add("passcode", .devicePasscode)
    let both = try await vault.add("both", [.biometryAny, .devicePasscode])
    let person = Person(passcodes: [Self.right, Self.right])
    try await person.with(vault, Self.keeping) { handle in
      _ = try await vault.secrets(of: [passcode], reason: nil, in: handle)
      let released = try await vault.secrets(of: [both], reason: nil, in: handle)
      #expect(released[0].text == "both")
    }
    #expect(Self.passcodesAsked(of: person) == 1)
  }

  @Test("an item that lost one of its two ways to open can be changed with the other, and the lost way stays lost")
  func closedWays() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    let either = try await vault.add("either", [.or, .biometryCurrentSet, .devicePasscode])
    try await Self.enroll(.leftIndex, in: vault)
    try await Person(passcodes: [Self.right]).with(vault, Self.keeping) { handle in
      try await vault.update(
        [either], ItemChange(attributes: [.label: .text("new")]), secret: SecretBytes(text: "changed"), reason: nil,
        in: handle)
      let released = try await vault.secrets(of: [either], reason: nil, in: handle)
      #expect(released[0].text == "changed", "by the passcode")
    }
    try await Person().with(vault, Self.keeping) { handle in
      try await vault.evaluate(.biometrics, reason: nil, in: handle)
      #expect(try await !vault.isSatisfied(either, by: handle), "not by a finger of the new set")
    }
  }

  @Test("an item whose passcode was removed can be changed by finger, and a later passcode does not open it")
  func passcodeGone() async throws {
    let store = try await ScratchStore()
    let vault = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    let either = try await vault.add("either", [.or, .biometryCurrentSet, .devicePasscode])
    _ = try await Person(passcodes: [Self.right]).with(vault) { try await vault.removePasscode(in: $0) }
    try await Person().with(vault, Self.keeping) { handle in
      try await vault.update(
        [either], ItemChange(attributes: [.label: .text("new")]), secret: nil, reason: nil, in: handle)
    }
    let setter = Person(newPasscode: "another one", recoveryKey: store.recoveryKey)
    try await setter.with(vault) { try await vault.changePasscode(in: $0) }
    var preferring = ContextOptions(timeout: .seconds(20), preferPasscode: true)
    preferring.keepsEvidence = true
    let person = Person(passcodes: ["another one"])
    try await person.with(vault, preferring) { handle in
      let released = try await vault.secrets(of: [either], reason: nil, in: handle)
      #expect(released[0].text == "either", "by the finger")
    }
    #expect(Self.passcodesAsked(of: person) == 0)
  }
}
