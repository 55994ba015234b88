import Foundation
import LocalAuthentication
import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultStore
import VirtualFinger
import Whorl

@Suite("Ends of an evaluation: cancel, invalidate, and calls that are not allowed")
struct CancellationTests {
  private static let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

  @Test("an evaluation that the person cancels ends with userCancel, and its context stays valid", arguments: [1, 2])
  func userCancel(policy: Int) async throws {
    let machine = try await Machine()
    let policy = try #require(LAPolicy(rawValue: policy))
    let person = PersonAtPrompt(machine, [.cancel, .press(.rightIndex)])
    let context = machine.context(person)
    #expect(await context.evaluate(policy) == .userCancel)
    #expect(await context.evaluate(policy) == nil)
  }

  @Test("invalidating a context ends its evaluation with appCancel, and later calls with invalidContext")
  func appCancel() async throws {
    let machine = try await Machine()
    let held = HeldContext()
    let person = PersonAtPrompt(machine, [.run { held.invalidate() }])
    let context = machine.context(person)
    held.context = context
    #expect(await context.evaluate(.deviceOwnerAuthentication) == .appCancel)
    #expect(context.problem(.deviceOwnerAuthentication) == .invalidContext)
    #expect(context.problem(Self.biometrics) == .invalidContext)
    #expect(await context.evaluate(.deviceOwnerAuthentication) == .invalidContext)
    let control = try #require(SecAccessControl.of([.userPresence]))
    let code = await outcome {
      try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "see")
    }
    #expect(code == .invalidContext)
    #expect(!context.setCredential(Data("secret".utf8), type: .applicationPassword))
    #expect(person.heard == ["touch"])
  }

  @Test(
    "the read after an evaluation that was invalidated is prompted at once where the reader reports fingers, also in the reply",
    .timeLimit(.minutes(1)))
  func afterInvalidated() async throws {
    let machine = try await Machine()
    // The clock stands still: the second in which another reader may still answer a touch never ends, and neither does
    // the one after which a finger counts as lifted.
    let stopped = ScanClock.now()
    let desk = ReaderDesk(
      machine.image.process, locks: ReaderLocks(runtimeFolder: machine.image.store.folder), clock: { stopped })
    let store = SecretStore(service: VaultSession(of: try machine.image.store.open(desk: desk)))
    let held = HeldContext()
    let first = LAContext(store: store, prompt: PersonAtPrompt(machine, [.run { held.invalidate() }]))
    held.context = first
    let person = PersonAtPrompt(machine, [.press(.rightIndex), .press(.rightIndex)])
    let context = LAContext(store: store, prompt: person)
    let code = await withCheckedContinuation { continuation in
      first.evaluatePolicy(Self.biometrics, localizedReason: "see") { success, error in
        #expect(!success && (error as? LAError)?.code == .appCancel)
        // The reply may wait for another evaluation.
        let ended = DispatchSemaphore(value: 0)
        let code = Mutex<LAError.Code?>(nil)
        context.evaluatePolicy(Self.biometrics, localizedReason: "read") { _, error in
          code.withLock { $0 = (error as? LAError)?.code }
          ended.signal()
        }
        ended.wait()
        continuation.resume(returning: code.withLock { $0 })
      }
    }
    #expect(code == nil)
    #expect(person.heard == ["touch", "matched"])
  }

  @Test("invalidating a context right after evaluatePolicy, before anything is asked, gives appCancel")
  func atOnce() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine)
    let context = machine.context(person)
    let code = await outcome {
      try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Bool, any Error>) in
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { success, error in
          ended.resume(with: error.map { .failure($0) } ?? .success(success))
        }
        context.invalidate()
      }
    }
    #expect(code == .appCancel)
  }

  @Test("invalidating a context before its first call makes its calls fail with invalidContext")
  func invalidBefore() async throws {
    let machine = try await Machine(fingers: [])
    let context = machine.context(PersonAtPrompt(machine))
    context.invalidate()
    #expect(context.problem(.deviceOwnerAuthentication) == .invalidContext)
    #expect(await context.evaluate(.deviceOwnerAuthentication) == .invalidContext)
  }

  @Test("a store that is closed during an evaluation ends the evaluation with systemCancel")
  func systemCancel() async throws {
    let machine = try await Machine()
    let vault = machine.vault
    let person = PersonAtPrompt(machine, [.run { await vault.shutdown() }])
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == .systemCancel)
  }

  @Test("a reader that is unplugged ends an evaluation with biometryDisconnected, and so do checks until it is back")
  func unplugged() async throws {
    let machine = try await Machine()
    let socket = machine.image.socket
    let person = PersonAtPrompt(
      machine, [.run { try VirtualImageReader(socket: socket).deviceError(.removed) }, .press(.rightIndex)])
    #expect(await machine.context(person).evaluate(Self.biometrics) == .biometryDisconnected)
    let isPlugged = Mutex(false)
    let reader = InterposedReader(
      real: machine.image.process, describing: { description in isPlugged.withLock { $0 } ? description : nil })
    let vault = try machine.image.store.open(reader: reader, clock: machine.clock.clock)
    let context = LAContext(store: SecretStore(service: VaultSession(of: vault)), prompt: person)
    #expect(context.problem(Self.biometrics) == .biometryDisconnected)
    #expect(context.biometryType == .none)
    isPlugged.withLock { $0 = true }
    #expect(context.problem(Self.biometrics) == nil)
    #expect(context.biometryType == .touchID)
    #expect(await context.evaluate(Self.biometrics) == nil)
  }

  @Test("an evaluation with interactionNotAllowed ends with notInteractive, and starts no scan")
  func notInteractive() async throws {
    let machine = try await Machine()
    for policy in [Self.biometrics, .deviceOwnerAuthentication] {
      let person = PersonAtPrompt(machine, [.press(.rightIndex)], passcodes: [Machine.passcode])
      let context = machine.context(person)
      context.interactionNotAllowed = true
      #expect(context.problem(policy) == nil, "checking asks for nothing")
      #expect(await context.evaluate(policy) == .notInteractive)
      #expect(person.heard.isEmpty)
      context.interactionNotAllowed = false
      #expect(await context.evaluate(policy) == nil, "allowed again, it asks")
    }
  }
}

/// A context that its own prompt ends.
private final class HeldContext: @unchecked Sendable {  // Set before the evaluation that uses it.
  weak var context: LAContext?
  func invalidate() { context?.invalidate() }
}
