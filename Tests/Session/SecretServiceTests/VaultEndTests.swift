import Foundation
import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing
import VaultDriver

@Suite("The vault is killed beside the Secret Service", .serialized)
struct VaultEndTests {
  /// The vaults that the service has started and that run.
  private func vaults(of service: RunningSecretService) -> [pid_t] {
    ProgramDriver.vaults(of: service.agent.pid)
  }

  /// Kills every vault of the service while it is to answer a call.
  private func kill<Answer: Sendable>(
    _ service: RunningSecretService, during call: @Sendable @escaping () async throws -> Answer
  ) async throws -> Answer {
    var vaults = vaults(of: service)
    // The next vault may still be starting, and does not have its name yet.
    for _ in 0..<400 where vaults.isEmpty {
      try await Task.sleep(for: .milliseconds(5))
      vaults = self.vaults(of: service)
    }
    #expect(!vaults.isEmpty)
    for vault in vaults { try stop(vault) }
    let answer = Task { try await call() }
    // Give the call time to reach the stopped vault.
    try await Task.sleep(for: .milliseconds(200))
    for vault in vaults { Glibc.kill(vault, SIGKILL) }
    return try await answer.value
  }

  @Test("a killed vault is restarted for running Secret Service reads and searches, and nothing is locked")
  func reads() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      #expect(try await kill(service) { try await client.secret(item, session: session).text } == "s")
      #expect(try await kill(service) { try await client.search(["a": "b"]).unlocked } == [item])
      for (path, interface) in [(item, "Item"), (ServiceClient.login, "Collection")] {
        let isLocked = try await kill(service) { try await client.property(path, interface, "Locked") }
        #expect(isLocked == .boolean(false))
      }
      #expect(try await kill(service) { try await client.change("Unlock", [item]).done } == [item])
      #expect(try await kill(service) { try await service.secrets(of: [item]) } == ["s"])
      // Killed before the call.
      for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
      #expect(try await client.search(["a": "b"]).unlocked == [item])
    }
  }

  @Test("a killed vault is restarted for running Secret Service changes, each of which is made once")
  func changes() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await kill(service) {
        try await client.create("s", label: "l", ["a": "b"], session: session)
      }
      #expect(try await client.search(["a": "b"]).unlocked == [item])
      let replaced = try await kill(service) {
        try await client.create("t", label: "m", ["a": "b"], replace: true, session: session)
      }
      #expect(replaced == item)
      #expect(try await client.secret(item, session: session).text == "t")
      try await kill(service) { try await client.set(item, "Item", "Label", .string("n")) }
      #expect(try await client.property(item, "Item", "Label") == .string("n"))
      try await kill(service) {
        _ = try await client.call(
          item, "Item", "SetSecret", [ServiceClient.structure("u", "text/plain", session)])
      }
      #expect(try await client.secret(item, session: session).text == "u")
      try await kill(service) { _ = try await client.call(item, "Item", "Delete") }
      #expect(try await client.search(["a": "b"]).unlocked.isEmpty)
      let made = try await kill(service) {
        try await client.call(
          ServiceClient.root, "Service", "CreateCollection",
          [.dictionary(["org.freedesktop.Secret.Collection.Label": .string("Mine")]), .string("")])
      }
      #expect(made.first?.asObjectPath == "\(ServiceClient.root)/collection/Mine")
    }
  }

  @Test("no change of the Secret Service is refused or made twice, whenever the vault is killed")
  func anyMoment() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      for round in 0..<30 {
        let attributes = ["round": "\(round)"]
        let storing = Task { try await client.create("s", label: "l", attributes, session: session) }
        // A delay between before the call's arrival and after its answer.
        try await Task.sleep(for: .microseconds(round * 100))
        for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
        let item = try await storing.value
        #expect(try await client.search(attributes).unlocked == [item])
      }
    }
  }

  @Test("a vault that is killed during a prompt is restarted, and the person is asked once more")
  func prompts() async throws {
    // The first prompt is not answered: the signal does nothing.
    try await RunningSecretService.with([.signal(SIGCONT), .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .presence)
      let secret = Task { try await client.secret(item, session: session).text }
      try await service.agent.waits { lines in lines.contains { $0.contains("to read “Bank”") } }
      for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
      #expect(try await secret.value == "s")
      #expect(service.agent.prompts.count == 2)
    }
  }

  @Test("an unlock prompt during which the vault is killed is shown again and does not count as dismissed")
  func unlocks() async throws {
    // A signal answers no prompt.
    try await RunningSecretService.with([.signal(SIGCONT), .right, .signal(SIGCONT), .signal(SIGCONT)]) { service in
      let (client, login) = (try await ServiceClient(service.bus), ServiceClient.login)
      /// Unlocks what was locked, and kills the vault at this many prompts.
      func unlock(killing count: Int) async throws -> (dismissed: Bool, paths: [String]) {
        _ = try await client.change("Lock", [login])
        let prompt = try await client.change("Unlock", [login]).prompt
        let before = service.agent.prompts.count
        try await client.call(prompt, "Prompt", "Prompt", [.string("")])
        for number in 1...count {
          try await service.agent.waits { _ in service.agent.prompts.count == before + number }
          for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
        }
        return try await client.completed(prompt)
      }
      #expect(try await unlock(killing: 1) == (false, [login]))
      #expect(try await client.property(login, "Collection", "Locked") == .boolean(false))
      #expect(try await unlock(killing: 2) == (false, []))
      #expect(try await client.property(login, "Collection", "Locked") == .boolean(true))
    }
  }

  @Test("a vault that is killed while the passcode is asked for is restarted, and asks once more")
  func firstUnlock() async throws {
    try await RunningSecretService.with(pinentry: LatePinentry.script) { service in
      let client = try await ServiceClient(service.bus)
      try await makeWaitForPasscode(storeAt: service.store.directory, passcode: TestStore.passcode)
      let change = try await client.change("Unlock", [ServiceClient.login])
      let shown = Task { try await client.show(change.prompt) }
      let asked = "\(service.store.folder)/asked"
      for _ in 0..<6_000 where access(asked, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
      for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
      #expect(try await !shown.value.dismissed, "\(service.agent.lines)")
    }
  }

  @Test("restarts of the vault leave no descriptor open in the Secret Service")
  func descriptors() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      func read() async throws {
        // A call is repeated once. It fails if both its vaults were killed, the second one while it started.
        for _ in 0..<2 { if await (try? client.search(["a": "b"]))?.unlocked.isEmpty == true { return } }
        #expect(try await client.search(["a": "b"]).unlocked.isEmpty)
      }
      /// What the open descriptors are.
      func descriptors() throws -> [String] {
        let folder = "/proc/\(service.agent.pid)/fd"
        return try folderEntries(folder).compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
      }
      try await read()
      let before = try descriptors()
      for round in 0..<20 {
        // Some vaults are killed while they start, and the service pauses before it asks for the next one.
        for _ in 0..<round % 4 {
          for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
          try await Task.sleep(for: .milliseconds(2))
        }
        for vault in vaults(of: service) { Glibc.kill(vault, SIGKILL) }
        try await read()
      }
      // Descriptors left by the last kill are closed in the background.
      for _ in 0..<1_000 where try descriptors().count > before.count { try await Task.sleep(for: .milliseconds(10)) }
      let after = try descriptors()
      #expect(after.count <= before.count, "\(before), then \(after)")
    }
  }
}
