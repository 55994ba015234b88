import Foundation
import SecretModel
import Synchronization
import Testing
import Vault
import VaultDriver
import Whorl

@testable import LocalAuthentication

@Suite("The environment", .serialized, SharedStoreTrait())
struct EnvironmentTests {
  private final class Watcher: NSObject, LAEnvironment.Observer {
    let changes = Mutex<[Bool?]>([])

    func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
      let wasEnrolled = oldState.biometry?.isEnrolled
      changes.withLock { $0.append(wasEnrolled) }
    }
  }

  private func told(_ watcher: Watcher, _ count: Int) async throws -> Bool {
    for _ in 1...100 where watcher.changes.withLock({ $0.count }) < count {
      try await Task.sleep(for: .milliseconds(20))
    }
    return watcher.changes.withLock { $0.count } == count
  }

  @Test("an LAEnvironment observer learns of fingers that are enrolled or removed, until its own removal")
  func atOnce() async throws {
    let machine = try await Machine(fingers: [])
    machine.share()
    let environment = LAEnvironment.currentUser
    let watcher = Watcher()
    environment.addObserver(watcher)
    try await machine.enroll(.rightIndex)
    #expect(try await told(watcher, 1))
    try await machine.unenroll(.rightIndex)
    #expect(try await told(watcher, 2))
    #expect(watcher.changes.withLock { $0 } == [false, true])
    environment.removeObserver(watcher)
    try await machine.enroll(.rightIndex)
    try await Task.sleep(for: .milliseconds(200))
    #expect(watcher.changes.withLock { $0.count } == 2)
  }

  @Test("LAEnvironment listens for changes of the shared store only while it has an observer, and tells all of them")
  func listening() async throws {
    let machine = try await Machine(fingers: [])
    machine.share()
    let (environment, changes) = (LAEnvironment.currentUser, machine.store.changes)
    _ = environment.state
    #expect(!changes.isWaiting, "nobody observes")
    let (first, second) = (Watcher(), Watcher())
    environment.addObserver(first)
    environment.addObserver(second)
    try await machine.enroll(.rightIndex)
    #expect(try await told(first, 1))
    #expect(try await told(second, 1))
    environment.removeObserver(first)
    #expect(changes.isWaiting)
    try await machine.enroll(.leftThumb)
    #expect(try await told(second, 2))
    environment.removeObserver(second)
    #expect(!changes.isWaiting && first.changes.withLock { $0.count } == 1)
    environment.addObserver(first)
    let another = try await Machine(fingers: [])
    another.share()
    _ = environment.state
    #expect(another.store.changes.isWaiting && !changes.isWaiting, "it listens to the store that it has looked at")
    environment.removeObserver(first)
    machine.share()
    do {
      let released = Watcher()
      environment.addObserver(released)
      #expect(changes.isWaiting)
    }
    try await machine.unenroll(.rightIndex)
    for _ in 1...100 where changes.isWaiting { try await Task.sleep(for: .milliseconds(20)) }
    #expect(!changes.isWaiting, "an observer that was released is none")
  }

  @Test("an LAEnvironment observer learns at the end of an evaluation of a finger that another vault enrolled")
  func elsewhere() async throws {
    let machine = try await Machine()
    let person = machine.share([touch])
    let (environment, watcher) = (LAEnvironment.currentUser, Watcher())
    environment.addObserver(watcher)
    defer { environment.removeObserver(watcher) }
    let other = try machine.image.store.open(reader: machine.image.process)
    _ = try await machine.image.enroll(.leftThumb, in: other)
    #expect(await machine.context(person).evaluate(.deviceOwnerAuthentication) == nil)
    #expect(try await told(watcher, 1))
  }

  @Test("LAEnvironment has no biometry without a reader, and no usable passcode before one is set")
  func missing() async throws {
    let machine = try await Machine(passcode: nil, fingers: [])
    SecretStore.useAsShared(try machine.withoutReader())
    let state = LAEnvironment.currentUser.state
    #expect(state.biometry == nil && state.allMechanisms.count == 1)
    #expect(state.userPassword?.isSet == false && state.userPassword?.isUsable == false)
  }

  @Test("biometry mechanisms of LAEnvironment are equal if their values are, and have the vault's values")
  func equality() {
    func mechanism(_ isUsable: Bool, _ isLockedOut: Bool, _ hash: UInt8, _ isOutOfReach: Bool)
      -> LAEnvironment.MechanismBiometry
    {
      LAEnvironment.MechanismBiometry(
        isUsable: isUsable, isLockedOut: isLockedOut, stateHash: Data([hash]), builtInSensorInaccessible: isOutOfReach)
    }
    let one = mechanism(true, false, 1, false)
    #expect(one == mechanism(true, false, 1, false) && one.hash == mechanism(true, false, 1, false).hash)
    for other in [
      mechanism(false, false, 1, false), mechanism(true, true, 1, false), mechanism(true, false, 2, false),
      mechanism(true, false, 1, true),
    ] { #expect(one != other) }
    for isOutOfReach in [true, false] {
      let known = Biometry(hasReader: true, problem: nil, state: [1], passcodeSet: true, isOutOfReach: isOutOfReach)
      #expect(LAEnvironment.State(known).biometry?.builtInSensorInaccessible == isOutOfReach)
    }
  }

  @Test("the state of LAEnvironment has reader, fingers, lockout and passcode, and observers learn of changes")
  func states() async throws {
    let machine = try await Machine(fingers: [])
    machine.share(Array(repeating: .pressStranger, count: 5))
    let environment = LAEnvironment.currentUser
    let watcher = Watcher()
    environment.addObserver(watcher)
    defer { environment.removeObserver(watcher) }
    let empty = environment.state
    #expect(empty.biometry?.isEnrolled == false && empty.biometry?.isUsable == false)
    #expect(empty.biometry?.biometryType == .touchID && empty.biometry?.stateHash == Data())
    #expect(empty.userPassword?.isSet == true && empty.companions.isEmpty)
    #expect(empty == environment.state && empty.allMechanisms.count == 2)
    try await machine.enroll(.rightIndex)
    let enrolled = environment.state
    #expect(enrolled.biometry?.isEnrolled == true && enrolled.biometry?.isUsable == true)
    #expect(enrolled != empty && enrolled.biometry?.isLockedOut == false)
    let context = machine.context(PersonAtPrompt(machine))
    #expect(context.problem(.deviceOwnerAuthenticationWithBiometrics) == nil)
    #expect(enrolled.biometry?.stateHash == context.domainState.biometry.stateHash)
    // The vault has reported the finger.
    for _ in 1...2 { try? await LARight(requirement: .biometry).authorize(localizedReason: "see") }
    let locked = environment.state
    #expect(locked.biometry?.isLockedOut == true && locked.biometry?.isUsable == false)
    for _ in 1...100 where watcher.changes.withLock({ $0.count }) < 2 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(watcher.changes.withLock { $0 } == [false, true])
  }
}
