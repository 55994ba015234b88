import CLinux
import Dispatch
import Glibc
import Primitives
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultBus

@Suite("A vault that breaks the protocol, ends, or is of another version")
struct HostileVaultTests {
  private static let ids = ItemSelection.ids([ItemID(bytes: [1])])

  private static func isVersionMismatch(_ error: any Error) -> Bool {
    if case .versionMismatch? = error as? VaultError { true } else { false }
  }

  private static func isUnavailable(_ error: any Error) -> Bool {
    if case .serviceUnavailable? = error as? VaultError { true } else { false }
  }

  @Test("a vault that ends cancels reads, leaves the outcome of changes unknown, and is unavailable later")
  func lost() async throws {
    let held = HeldCalls()
    let raw = try RawVault { call in
      call.member == "OpenContext" ? call.answer([.bytes([5])]) : held.append(call)
    }
    let vault = try await raw.open()
    let (handle, events) = try await vault.openContext(ContextOptions())
    let reading = Task { try await vault.items(ItemSearch(), .nobody) }
    let asking = Task { try await vault.secrets(Self.ids, Asking(in: handle)).count }
    let changing = Task { try await vault.delete(Self.ids) }
    let unlocking = Task { try await vault.unlock(Asking(in: handle)) }
    #expect(try await eventually { held.all.count == 4 })
    raw.connection.close()
    await #expect(throws: VaultError.systemCancelled) { try await unlocking.value }
    await #expect(throws: VaultError.systemCancelled) { _ = try await reading.value }
    await #expect(throws: VaultError.systemCancelled) { _ = try await asking.value }
    await #expect(throws: VaultError.outcomeUnknown) { _ = try await changing.value }
    for await _ in events {}
    await #expect(throws: VaultError.contextInvalidated) { try await vault.unlock(Asking(in: handle)) }
    await #expect { _ = try await vault.delete(Self.ids) } throws: { Self.isUnavailable($0) }
    await #expect { _ = try await vault.openContext(ContextOptions()) } throws: { Self.isUnavailable($0) }
    await #expect { _ = try await raw.client.open(StorePlace(directory: "/")) } throws: { Self.isUnavailable($0) }
    await vault.respond(handle, .cancel)
    await vault.closeContext(handle, reason: .program)
  }

  @Test("a vault that refuses an item which it was not given breaks the protocol")
  func refusedItems() async throws {
    for (place, isRead) in [(0, true), (1, false), (-1, false)] as [(Int64, Bool)] {
      let refused = BusValue.structure([.int64(place), .structure([.string("Busy"), .array(of: "v", [])])])
      let raw = try RawVault { $0.answer([.array(of: "(x(sav))", [refused])]) }
      let item = ItemToAdd(NewItem(.key, [:]), secret: SharedSecret(SecretBytes(count: 1)))
      let found = try? await raw.open().add([item])
      #expect((found?.count == 1) == isRead, "\(place)")
    }
  }

  @Test("a vault that ends or is silent before its hello is unavailable")
  func silent() async throws {
    let held = HeldCalls()
    let mute = try RawVault(greets: false, greetingLimit: .milliseconds(100)) { held.append($0) }
    await #expect { _ = try await mute.client.open(StorePlace(directory: "/")) } throws: { Self.isUnavailable($0) }
    let (mine, theirs) = try socketPair()
    close(theirs)
    await #expect {
      _ = try await VaultBusClient(socket: mine).open(StorePlace(directory: "/"))
    } throws: { Self.isUnavailable($0) }
  }

  @Test("a client that sends Open right behind Hello opens nothing if the vault refuses the hello")
  func openBeforeGreeting() async throws {
    let held = HeldCalls()
    let raw = try RawVault(greets: false) { held.append($0) }
    let opening = Task { try await raw.open() }
    try #require(await eventually { held.all.map(\.member) == ["Hello", "Open"] })
    held.all[1].answer()
    held.all[0].fail("org.whorl.Vault1.Error.VersionMismatch", "", details: [.bytes(Array("too old".utf8))])
    await #expect(throws: VaultError.versionMismatch("too old")) { _ = try await opening.value }
  }

  @Test("a vault of another major version, or without a method, is recognized")
  func older() async throws {
    let other = try RawVault(greets: false) {
      $0.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such interface")
    }
    await #expect { _ = try await other.client.open(StorePlace(directory: "/")) } throws: { Self.isVersionMismatch($0) }
    let older = try RawVault { $0.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    let vault = try await older.open()
    await #expect { _ = try await vault.biometry() } throws: { Self.isVersionMismatch($0) }
    let refusing = try RawVault {
      $0.fail("org.whorl.Vault1.Error.VersionMismatch", "", details: [.bytes(Array("it does not know shape".utf8))])
    }
    let refused = try await refusing.open()
    await #expect(throws: VaultError.versionMismatch("it does not know shape")) {
      _ = try await refused.delete(.search(ItemSearch()))
    }
  }

  @Test("a newer vault may add fields, errors and events, and unknown questions are declined")
  func newer() async throws {
    let held = HeldCalls()
    let raw = try RawVault { call in
      switch call.member {
      case "OpenContext": call.answer([.bytes([5])])
      case "Biometry":
        call.answer([
          .dictionary([
            "has-reader": .boolean(true), "passcode-set": .boolean(false), "faces": .uint32(2),
            "problem": .structure([.string("TooCold"), .array(of: "v", [.variant(.int64(-40))])]),
          ])
        ])
      case "Status": call.fail("org.whorl.Vault1.Error.TooCold", "freezing", details: [.int64(-40)])
      case "Respond":
        held.append(call)
        call.answer()
      default: call.answer()
      }
    }
    let vault = try await raw.open()
    let biometry = try await vault.biometry()
    #expect(biometry.hasReader)
    #expect(biometry.problem.map { Self.isVersionMismatch($0) } == true)
    await #expect { _ = try await vault.status() } throws: { Self.isVersionMismatch($0) }
    let (handle, events) = try await vault.openContext(ContextOptions())
    raw.emit(handle.bytes, 1, "face-wanted", [:])
    raw.emit(handle.bytes, 2, "retry", ["reason": .string("too-blurred")])
    raw.emit(handle.bytes, 3, "secret-wanted", ["secret": .string("magic-word")])
    raw.emit(handle.bytes, 4, "no-match", ["remaining": .int64(2), "mood": .string("grim")])
    try await vault.unlock(Asking(in: handle))
    #expect(events.lastNumber == 4)
    for await event in events {
      #expect(event.number == 4)
      guard case .noMatch(remaining: 2) = event.event else {
        Issue.record("\(event)")
        break
      }
      break
    }
    #expect(try await eventually { held.all.count == 1 })
    #expect(held.all[0].arguments.dropFirst() == [.bytes([5]), .string("decline"), .int64(3), .array(of: "h", [])])
  }

  @Test("a vault's events are ignored if they are repeated, out of order, or of no open context")
  func events() async throws {
    let raw = try RawVault { $0.answer($0.member == "OpenContext" ? [.bytes([5])] : []) }
    let vault = try await raw.open()
    let (handle, events) = try await vault.openContext(ContextOptions())
    raw.emit([6], 1, "matched", [:])
    raw.emit(handle.bytes, -1, "matched", [:])
    raw.emit(handle.bytes, 2, "matched", [:])
    raw.emit(handle.bytes, 2, "secret-wanted", ["secret": .string("magic-word")])
    raw.emit(handle.bytes, 1, "matched", [:])
    raw.connection.emit(VaultInterface.target, "Event", [.string("x")])
    raw.connection.emit(VaultInterface.target, "Other", [.bytes([5]), .int64(9), .string("matched"), .dictionary([:])])
    raw.emit(handle.bytes, 3, "finger-present", ["present": .boolean(true)])
    try await vault.unlock(Asking(in: handle))
    #expect(events.lastNumber == 3)
    await vault.closeContext(handle, reason: .program)
    raw.emit(handle.bytes, 4, "matched", [:])
    try await vault.unlock(.nobody)
    var numbers: [Int] = []
    for await event in events { numbers.append(event.number) }
    #expect(numbers == [2, 3])
  }

  @Test("a change called after the vault's end is refused, even if the bus loop has not noticed the end")
  func endedBefore() async throws {
    let raw = try RawVault { $0.answer() }
    let vault = try await raw.open()
    let isCalled = DispatchSemaphore(value: 0)
    BusLoop.shared.post { isCalled.wait() }
    raw.connection.close()
    let change = Task { try await vault.delete(Self.ids) }
    // Wait until the call is queued behind the close.
    try await Task.sleep(for: .milliseconds(100))
    isCalled.signal()
    await #expect { _ = try await change.value } throws: { Self.isUnavailable($0) }
  }

  @Test("a vault is disconnected if its answers do not fit the method")
  func wrongAnswers() async throws {
    for answer: [BusValue] in [
      [], [.string("x")], [.array(of: "ay", [.bytes([])]), .bytes([])], [.array(of: "ay", [])],
    ] {
      let raw = try RawVault { $0.answer(answer) }
      let vault = try await raw.open()
      await #expect { _ = try await vault.items(ItemSearch(), .nobody) } throws: { Self.isVersionMismatch($0) }
      #expect(try await eventually { raw.isClosed.isSet })
    }
    let raw = try RawVault { $0.answer([.string("deleted")]) }
    let vault = try await raw.open()
    await #expect(throws: VaultError.outcomeUnknown) { _ = try await vault.delete(Self.ids) }
    #expect(try await eventually { raw.isClosed.isSet })
  }

  @Test("a vault's secrets are refused if they are not sealed, or positioned outside of their file")
  func secrets() async throws {
    // An item without attributes, in the layout of the interface's XML.
    let item: [[UInt8]] = [
      [1, 0, 0, 0, 1, 1], [2, 0, 0, 0, 7] + Array("damaged".utf8), [3, 255, 255, 255, 255], [4, 0, 0, 0, 0],
      [5, 0, 0, 0, 8] + [UInt8](repeating: 0, count: 8), [6, 0, 0, 0, 13] + Array("when-unlocked".utf8),
      [7, 0, 0, 0, 8] + [UInt8](repeating: 0, count: 8), [8, 0, 0, 0, 8] + [UInt8](repeating: 0, count: 8),
    ]
    func released(_ offset: Int64, _ count: Int64, _ file: Int32?) async throws -> Int {
      let raw = try RawVault {
        $0.answer([
          .array(
            of: "(ayxx)", [.structure([.bytes(Array(item.joined())), .int64(offset), .int64(count)])]),
          .array(of: "h", file.map { [.descriptor(BusDescriptor(taking: dup($0)))] } ?? []),
        ])
      }
      return try await raw.open().secrets(Self.ids, .nobody)[0].secret.count
    }
    let file = try SealedFile.make(of: SecretBytes(count: 8))
    #expect(try await released(2, 6, file.descriptor) == 6)
    for (offset, count): (Int64, Int64) in [(-1, 2), (0, -1), (7, 2), (9, 0), (.max, 1), (1, .max)] {
      await #expect { _ = try await released(offset, count, file.descriptor) } throws: { Self.isVersionMismatch($0) }
    }
    await #expect { _ = try await released(0, 0, nil) } throws: { Self.isVersionMismatch($0) }
    let unsealed = whorl_memory_file("test")
    defer { close(unsealed) }
    await #expect { _ = try await released(0, 0, unsealed) } throws: { Self.isVersionMismatch($0) }
  }

  @Test("a vault gets Cancel for a cancelled call, whose answer counts, and is disconnected without an answer")
  func cancelling() async throws {
    let held = HeldCalls()
    let cancelled = Mutex<[UInt64]>([])
    let raw = try RawVault(cancelGrace: .seconds(30)) { call in
      guard call.member == "Cancel" else { return held.append(call) }
      cancelled.withLock { $0 += call.arguments.compactMap(\.asUInt64) }
      call.answer()
    }
    let vault = try await raw.open()
    let made = Task { try await vault.delete(Self.ids) }
    #expect(try await eventually { held.all.count == 1 })
    made.cancel()
    #expect(
      try await eventually { cancelled.withLock { $0 } == held.all[0].arguments.prefix(1).compactMap(\.asUInt64) })
    // The change was made before.
    held.all[0].answer([.int64(3)])
    #expect(try await made.value == 3)
    // A call of a task that is cancelled already is not sent.
    let late = Task {
      try? await Task.sleep(for: .seconds(60))
      return try await vault.delete(Self.ids)
    }
    late.cancel()
    await #expect(throws: VaultError.cancelled) { _ = try await late.value }
    #expect(held.all.count == 1)

    let stuck = try RawVault(cancelGrace: .milliseconds(100)) { held.append($0) }
    let stuckVault = try await stuck.open()
    let reading = Task { try await stuckVault.items(ItemSearch(), .nobody) }
    let changing = Task { try await stuckVault.delete(Self.ids) }
    #expect(try await eventually { held.all.count == 3 })
    reading.cancel()
    await #expect(throws: VaultError.systemCancelled) { _ = try await reading.value }
    await #expect(throws: VaultError.outcomeUnknown) { _ = try await changing.value }
  }

  @Test("a vault cannot call its clients")
  func calls() async throws {
    let raw = try RawVault { $0.answer() }
    _ = try await raw.open()
    await #expect(throws: BusError.self) {
      _ = try await raw.connection.call(VaultInterface.target, "Status", [.uint64(1)])
    }
  }
}
