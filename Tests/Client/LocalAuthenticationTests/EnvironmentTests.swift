import Foundation
import LocalAuthentication
import Synchronization
import Testing
import Vault
import VaultDriver
import Whorl

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

  @Test("an observer is notified at once of fingers that another program enrols and removes, until its end")
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

  @Test("the environment has reader, fingers, lockout and passcode, and notifies its observers")
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
    #expect(enrolled != empty)
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
