import Foundation
import LocalAuthentication
import Presence
import Primitives
import ReaderClient
import Security
import Synchronization
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

/// A machine with a store, a virtual reader and fingers enrolled on it.
struct Machine {
  static let passcode = ScratchStore.passcode

  let image: ImageReaderStore
  let vault: Vault
  let store: SecretStore
  /// Moves the store's clock, which ignores sleep.
  let clock = MovableClock()

  init(
    passcode: String? = Self.passcode, fingers: [Finger] = [.rightIndex], classKeys: ClassKeys = ClassKeys()
  ) async throws {
    image = try await ImageReaderStore(passcode: passcode)
    vault = try image.store.open(reader: image.process, clock: clock.clock, classKeys: classKeys)
    store = SecretStore(service: VaultSession(of: vault))
    for finger in fingers { try await enroll(finger) }
  }

  /// The same store as another program opens it, with a reader process of its own.
  func anotherProgram() throws -> SecretStore {
    SecretStore(service: VaultSession(of: try image.store.open(reader: image.process, clock: clock.clock)))
  }

  /// The same store without an attached reader.
  func withoutReader() throws -> SecretStore {
    let vault = try image.store.open(reader: InterposedReader.absent(image.process), clock: clock.clock)
    return SecretStore(service: VaultSession(of: vault))
  }

  func enroll(_ finger: Finger) async throws {
    _ = try await image.enroll(finger, in: vault)
  }

  func unenroll(_ finger: Finger) async throws {
    let person = Person(passcodes: [Self.passcode])
    _ = try await person.with(vault) { [vault] in try await vault.unenroll(finger, in: $0) }
  }

  func failures() async throws -> Int { try await vault.status().failures }

  /// A context with this person at its prompt.
  func context(_ person: PersonAtPrompt) -> LAContext { LAContext(store: store, prompt: person) }

  /// Stores a secret under an access control and returns the item's id.
  @discardableResult
  func add(_ name: String, _ flags: AccessControl.Flags, secret: String = "secret") async throws -> ItemID {
    let item = NewItem(.genericPassword, [.service: .text(name)], access: try AccessControl(flags))
    return try await store.add(item, secret: SecretBytes(text: secret)).id
  }

  /// The secret, read in this context.
  func read(_ id: ItemID, in context: LAContext) async throws -> String {
    try await store.secrets(of: [id], using: try context.authenticationContext())[0].secret.text
  }
}

/// A boot clock that only a test moves.
final class MovableClock: Sendable {
  private let time = Mutex(BootClock.system.now())

  func advance(seconds: UInt64) { time.withLock { $0 += seconds * 1_000_000_000 } }

  var clock: BootClock {
    BootClock(bootID: BootClock.system.bootID) { [self] in time.withLock { $0 } }
  }
}

/// The code an evaluation ended with; nil for success.
func outcome(_ evaluation: () async throws -> Bool) async -> LAError.Code? {
  do {
    return try await evaluation() ? nil : .invalidDimensions
  } catch {
    return (error as? LAError)?.code ?? .invalidDimensions
  }
}

extension LAContext {
  /// The reason why the policy cannot be evaluated; nil if it can.
  func problem(_ policy: LAPolicy) -> LAError.Code? {
    var error: NSError?
    return canEvaluatePolicy(policy, error: &error) ? nil : (error as? LAError)?.code ?? .invalidDimensions
  }

  func evaluate(_ policy: LAPolicy) async -> LAError.Code? {
    await outcome { try await evaluatePolicy(policy, localizedReason: "see whether it works") }
  }
}
