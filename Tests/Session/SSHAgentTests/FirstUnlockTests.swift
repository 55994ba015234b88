import Glibc
import ProgramDriver
import Testing
import VaultDriver

@Suite("whorl-agent with a store that needs its passcode first", .serialized)
struct FirstUnlockTests {
  @Test("whorl-agent asks for the passcode once more if the vault ends during the first unlock's prompt")
  func vaultEnds() async throws {
    try await PrivateBus.with { bus in
      try await TestStore.with { store in
        let key = try await store.addKey("work", "--access", "none")
        try await makeWaitForPasscode(storeAt: store.directory, passcode: TestStore.passcode)
        try LatePinentry.write(in: store.folder)
        let environment = [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "PATH": "\(store.folder):/usr/bin:/bin", "DISPLAY": ":7",
        ]
        try await RunningAgent.with(store, environment: environment) { agent in
          async let signed = agent.sign(key)
          let asked = "\(store.folder)/asked"
          for _ in 0..<6_000 where access(asked, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
          let running = vaults(of: agent.pid)
          #expect(!running.isEmpty)
          for vault in running { kill(vault, SIGKILL) }
          let result = try await signed
          #expect(result.status == 0, "\(result.diagnostics) \(agent.lines)")
        }
      }
    }
  }
}
