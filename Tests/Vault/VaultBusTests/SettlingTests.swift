import Glibc
import Primitives
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultBus
import VaultDriver
import VaultHost

@Suite("A vault whose client has left")
struct SettlingTests {
  @Test("a vault whose client has left abandons a call that does not end, after a time limit")
  func callWithoutEnd() async throws {
    let gate = Gate()
    let endless = StubVault(
      .init(unlock: { _ throws(VaultError) in
        // Ignores its cancellation.
        await Task.detached { try? await gate.wait() }.value
      }))
    let (mine, theirs) = try socketPair()
    let settled = Mutex<ContinuousClock.Instant?>(nil)
    _ = try VaultBusServer(
      socket: theirs, connection: endless, settlingLimit: .milliseconds(300),
      onClosed: { settled.withLock { $0 = .now } })
    let client = try VaultBusClient(socket: mine)
    let vault = try await client.open(StorePlace(directory: "/"))
    let call = Task { try await vault.unlock(.nobody) }
    #expect(try await eventually { gate.count == 1 })
    let start = ContinuousClock.now
    await client.close()
    await #expect(throws: VaultError.self) { try await call.value }
    #expect(try await eventually { settled.withLock { $0 != nil } })
    // Use the recorded time: on a busy machine this task may run much later.
    #expect(try #require(settled.withLock { $0 }) - start >= .milliseconds(300))
    gate.open()
  }

  @Test("a vault whose client has left reports its end only after a running call has ended")
  func callThatEnds() async throws {
    let gate = Gate()
    let ends = Mutex<[String]>([])
    let stub = StubVault(
      .init(unlock: { _ throws(VaultError) in
        // Ignores its cancellation.
        await Task.detached { _ = try? await gate.wait() }.value
        ends.withLock { $0.append("call") }
      }))
    let (mine, theirs) = try socketPair()
    _ = try VaultBusServer(
      socket: theirs, connection: stub, settlingLimit: .seconds(60),
      onClosed: { ends.withLock { $0.append("connection") } })
    let client = try VaultBusClient(socket: mine)
    let vault = try await client.open(StorePlace(directory: "/"))
    let call = Task { try await vault.unlock(.nobody) }
    #expect(try await eventually { gate.count == 1 })
    await client.close()
    await #expect(throws: VaultError.self) { try await call.value }
    #expect(try await eventually { stub.isClosed })
    // While another connection is served, an end that does not wait for the call would be reported.
    let other = try await Way.overSocket.connect(to: StubVault()).open(StorePlace(directory: "/"))
    for _ in 0..<20 { _ = try await other.items(ItemSearch(), .nobody) }
    #expect(ends.withLock { $0 } == [])
    gate.open()
    #expect(try await eventually { ends.withLock { $0.count } == 2 })
    #expect(ends.withLock { $0 } == ["call", "connection"])
  }

  @Test("a vault answers other connections while a change waits for another program's lock")
  func lockedElsewhere() async {
    await #expect(processExitsWith: .success) {
      VaultsOnBusLoop.begin()
      let scratch = try await OpenScratch(.overSocket)
      let lock = open("\(scratch.scratch.store.path)/commit.lock", O_RDWR | O_CLOEXEC)
      #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
      let vault = scratch.vault
      let adding = Task {
        try await vault.add(
          NewItem(.genericPassword, [.service: .text("s")]), secret: SecretBytes(count: 3), replacing: false, .nobody)
      }
      try await Task.sleep(for: .milliseconds(200))
      // Meanwhile a second client of the same process is greeted, and then a third.
      for _ in 0..<2 {
        await #expect(throws: StubVault.unused) {
          _ = try await Way.overSocket.connect(to: StubVault()).open(StorePlace(directory: "/")).status()
        }
      }
      close(lock)
      #expect(try await adding.value.state == .living)
      #expect(try await vault.items(.everything, .nobody).items.count == 1)
    }
  }
}
