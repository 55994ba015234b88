import CLinux
import Glibc
import Primitives
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultBus
import VaultDriver

@Suite("A client that breaks the vault's protocol")
struct HostileClientTests {
  private static let prefix = VaultInterface.errorPrefix
  private static let asking: BusValue = .dictionary([:])

  @Test("a vault's client may give a reason of up to 65,536 bytes")
  func longReason() async throws {
    let open = try await OpenScratch(.overSocket)
    let (handle, _) = try await open.vault.openContext(ContextOptions(interactionNotAllowed: true))
    for (length, error) in [(65_536, "interaction-not-allowed"), (65_537, "invalid-request")] {
      let asking = Asking(in: handle, reason: String(repeating: "x", count: length))
      await #expect {
        _ = try await open.vault.evaluate(.policy(.deviceOwner), asking)
      } throws: {
        switch $0 as? VaultError {
        case .interactionNotAllowed: error == "interaction-not-allowed"
        case .invalidRequest: error == "invalid-request"
        default: false
        }
      }
    }
  }

  @Test("a vault's client gets nothing before its hello, and is disconnected without a hello")
  func greeting() async throws {
    let vault = StubVault()
    let client = try RawClient(to: vault)
    let place: BusValue = .dictionary(["directory": .bytes([47]), "reader": .bytes(Array("auto".utf8))])
    #expect(await client.error("Open", [place])?.name == "org.freedesktop.DBus.Error.AccessDenied")
    #expect(await client.error("Cancel")?.name == "org.freedesktop.DBus.Error.AccessDenied")
    try await client.open()
    let silent = try RawClient(to: vault, greetingLimit: .milliseconds(50))
    #expect(try await eventually { silent.isClosed.isSet })
    #expect(!client.isClosed.isSet)
  }

  @Test("a vault answers a hello that waited for it while it could not run, also after the hello's limit")
  func lateLook() async throws {
    for limit in [Duration.milliseconds(300), .milliseconds(1)] {
      let client = try RawClient(to: StubVault(), greetingLimit: limit)
      // As on a machine that is too busy to run the vault. The hello is sent, and its time passes, before the vault looks.
      BusLoop.shared.post { usleep(500_000) }
      try await client.open()
      try await Task.sleep(for: .milliseconds(1_500))
      #expect(!client.isClosed.isSet, "a vault that said hello in time is not closed later")
    }
  }

  @Test("a vault's client gets errors for unknown members, wrong arguments and objects, and can continue")
  func members() async throws {
    let client = try RawClient(to: StubVault())
    try await client.open()
    let none: [BusValue] = [.dictionary(["ids": .array(of: "ay", [])])]
    #expect(await client.error("Shutdown")?.name == "org.freedesktop.DBus.Error.UnknownMethod")
    #expect(await client.error("Status", [.string("x")])?.name == "org.freedesktop.DBus.Error.InvalidArgs")
    #expect(await client.error("Add")?.name == "org.freedesktop.DBus.Error.InvalidArgs")
    for target in [
      BusTarget(path: "/", interface: "org.whorl.Vault1"),
      BusTarget(path: "/org/whorl/Vault", interface: "org.whorl.Vault2"),
    ] {
      await #expect(throws: BusError.self) {
        _ = try await client.connection.call(target, "Delete", [.uint64(client.next())] + none)
      }
    }
    await #expect(throws: BusError.self) { _ = try await client.connection.call(VaultInterface.target, "Status") }
    #expect(try await client.call("Delete", none) == [.int64(0)])
  }

  @Test("a vault's client cannot reuse the number of a running call, or cancel a call that does not run")
  func numbers() async throws {
    let gate = Gate()
    let client = try RawClient(to: StubVault(.init(unlock: { _ throws(VaultError) in try await gate.wait() })))
    try await client.open()
    let running = Task { try await client.call("Unlock", [Self.asking], number: 1_000) }
    #expect(try await eventually { gate.count == 1 })
    await #expect(throws: BusError.self) { try await client.call("Unlock", [Self.asking], number: 1_000) }
    try await client.call("Cancel", number: 999)
    #expect(gate.count == 1)
    try await client.call("Cancel", number: 1_000)
    await #expect(throws: BusError.self) { _ = try await running.value }
    // The number is free again.
    gate.open()
    try await client.call("Unlock", [Self.asking], number: 1_000)
  }

  @Test(
    "a malformed request to a vault is refused",
    arguments: [
      ("Delete", [.dictionary([:])]),
      ("Delete", [.dictionary(["ids": .array(of: "ay", []), "names": .array(of: "(ayay)", [])])]),
      ("Delete", [.dictionary(["ids": .array(of: "s", [])])]),
      ("Delete", [.dictionary(["search": .dictionary([:])])]),
      ("Delete", [.dictionary(["search": .string("all")])]),
      ("Delete", [.dictionary(["names": .array(of: "(ayay)", [.structure([.bytes([0xFF]), .bytes([])])])])]),
      ("Delete", [.dictionary(["names": .array(of: "(ss)", [.structure([.string("a"), .string("b")])])])]),
      ("Unlock", [.dictionary(["reason": .string("text that is no bytes")])]),
      ("Unlock", [.dictionary(["options": .dictionary([:])])]),
      ("OpenContext", [.dictionary([:])]),
      ("CloseContext", [.bytes([]), .string("revenge")]),
      ("Losses", [.string("hope")]),
      ("Enroll", [.string("sixth-finger"), .dictionary([:])]),
      ("Enroll", [.string(""), .dictionary([:])]),
      ("SetFirstUnlock", [.string("never"), .dictionary([:])]),
      ("UseAdapter", [.string("usb"), .dictionary([:])]),
      ("Evaluate", [.dictionary(["policy": .int64(1)]), .dictionary([:])]),
      ("Evaluate", [.dictionary([:]), .dictionary([:])]),
      ("Respond", [.bytes([]), .string("secret"), .int64(1), .array(of: "h", [])]),
      ("Respond", [.bytes([]), .string("shrug"), .int64(1), .array(of: "h", [])]),
    ] as [(String, [BusValue])])
  func values(_ member: String, _ arguments: [BusValue]) async throws {
    let vault = StubVault(.init(delete: { _ in 99 }))
    let client = try RawClient(to: vault)
    try await client.open()
    let error = try #require(await client.error(member, arguments))
    #expect([Self.prefix + "InvalidRequest", Self.prefix + "VersionMismatch"].contains(error.name), "\(error)")
    #expect(vault.responses.isEmpty)
    #expect(vault.ends.isEmpty)
  }

  @Test("a newer client is served if the vault understands all of its request")
  func newer() async throws {
    let client = try RawClient(to: StubVault(.init(delete: { _ in 99 })))
    let greeting = try await client.call("Hello", [.uint32(7), .array(of: "s", [.string("levitation")])])
    #expect(greeting == [.uint32(VaultInterface.minor), .array(of: "s", [])])
    try await client.open()
    var search: [String: BusValue] = [
      "every-group": .boolean(false), "attributes": .array(of: "(ay(sv))", []), "synchronizable": .string("no"),
      "ignores-case": .boolean(false), "states": .array(of: "s", [.string("living")]),
      "interaction": .string("allow"),
    ]
    #expect(try await client.call("Delete", [.dictionary(["search": .dictionary(search)])]) == [.int64(99)])
    // A vault that ignored the condition would delete too much.
    search["colour"] = .string("blue")
    let error = await client.error("Delete", [.dictionary(["search": .dictionary(search)])])
    #expect(error?.name == Self.prefix + "VersionMismatch")
    let why = String(decoding: error?.details.first?.asBytes ?? [], as: UTF8.self)
    #expect(why.contains("colour"))
  }

  @Test("a vault checks item names and access controls that its client sends")
  func rules() async throws {
    let client = try RawClient(to: StubVault())
    try await client.open()
    let empty: BusValue = .array(of: "(ayay)", [.structure([.bytes([]), .bytes([])])])
    #expect(await client.error("Delete", [.dictionary(["names": empty])])?.name == Self.prefix + "InvalidName")
    let control: BusValue = .dictionary(["access": .uint64(1 << 62)])
    #expect(await client.error("Evaluate", [control, Self.asking])?.name == Self.prefix + "InvalidAccessControl")
  }

  @Test("a vault refuses a secret that its client sends unsealed, too large, or not in a memory file")
  func secrets() async {
    // In a new process, because other tests open files at the same time.
    await onOwnThread {
      await #expect(processExitsWith: .success) {
        let vault = StubVault()
        let client = try RawClient(to: vault)
        try await client.open()
        func error(_ files: [Int32]) async -> String? {
          let descriptors = files.map { BusValue.descriptor(BusDescriptor(taking: $0)) }
          return await client.error(
            "Respond", [.bytes([]), .string("secret"), .int64(1), .array(of: "h", descriptors)])?.name
        }
        let before = try openDescriptors()
        var pipes: [Int32] = [-1, -1]
        #expect(pipe(&pipes) == 0)
        close(pipes[1])
        for file in [open("/dev/zero", O_RDONLY), open("/etc/passwd", O_RDONLY), open("/tmp", O_RDONLY), pipes[0]] {
          #expect(await error([file]) == Self.prefix + "InvalidRequest")
        }
        #expect(await error([whorl_memory_file("test")]) == Self.prefix + "InvalidRequest")
        let long = try SealedFile.make(of: SecretBytes(count: NewItem.secretLimit + 1))
        #expect(await error([dup(long.descriptor)]) == Self.prefix + "SecretTooLong")
        let fine = try SealedFile.make(of: SecretBytes(count: 3))
        #expect(await error([dup(fine.descriptor)]) == nil)
        #expect(await error((0..<16).map { _ in dup(fine.descriptor) }) == Self.prefix + "InvalidRequest")
        #expect(vault.responses.count == 1)
        #expect(try await eventually { try openDescriptors() <= before + 2 })
      }
    }
  }

  @Test("a vault refuses new items that share the bytes of one secret")
  func overlappingSecrets() async throws {
    let stub = StubVault()
    let client = try RawClient(to: stub)
    try await client.open()
    // An item without attributes, in the layout of the interface's XML.
    let item: [[UInt8]] = [
      [3, 4, 0, 0, 0] + Array("keys".utf8), [4, 0, 0, 0, 0], [5, 8, 0, 0, 0] + [UInt8](repeating: 0, count: 8),
      [6, 13, 0, 0, 0] + Array("when-unlocked".utf8),
    ]
    let entry = BusValue.structure([
      .bytes(Array(item.joined())), .int64(0), .int64(1_000),
    ])
    let file = try SealedFile.make(of: SecretBytes(count: 1_000))
    let error = await client.error(
      "AddAll",
      [
        .array(of: "(ayxx)", Array(repeating: entry, count: 2)),
        .descriptor(BusDescriptor(taking: dup(file.descriptor))),
      ])
    #expect(error?.name == Self.prefix + "InvalidRequest")
  }

  @Test("a vault's client gets at most 64 calls and 1,024 contexts, and can still cancel what it waits for")
  func limits() async throws {
    let gate = Gate()
    let vault = StubVault(.init(unlock: { _ throws(VaultError) in try await gate.wait() }))
    let client = try RawClient(to: vault)
    try await client.open()
    let options = ContextOptions().busValueForTests
    var contexts: [BusValue] = []
    for _ in 0..<1_024 { contexts += try await client.call("OpenContext", [options]) }
    #expect(await client.error("OpenContext", [options])?.name == Self.prefix + "Busy")
    // A closed context does not count for the limit once the call is answered.
    for _ in 0..<200 {
      try await client.call("CloseContext", [contexts[0], .string("program")])
      contexts[0] = try await client.call("OpenContext", [options])[0]
    }
    let waiting = (0..<64).map { number in
      Task { try await client.call("Unlock", [Self.asking], number: 5_000 + UInt64(number)) }
    }
    #expect(try await eventually { gate.count == 64 })
    #expect(await client.error("Unlock", [Self.asking])?.name == Self.prefix + "Busy")
    try await client.call("Respond", [contexts[0], .string("cancel"), .int64(0), .array(of: "h", [])])
    try await client.call("CloseContext", [contexts[0], .string("person")])
    try await client.call("Cancel", number: 5_000)
    await #expect(throws: BusError.self) { _ = try await waiting[0].value }
    gate.open()
    for call in waiting.dropFirst() { _ = try await call.value }
    try await client.call("Unlock", [Self.asking])
  }

  @Test("a vault's client may have less than 16 MiB of answers to prompts in progress", .timeLimit(.minutes(1)))
  func largeResponses() async throws {
    let gate = Gate()
    let vault = StubVault(.init(respond: { try? await gate.wait() }))
    let client = try RawClient(to: vault)
    try await client.open()
    let file = BusDescriptor(taking: try SealedFile.make(of: SecretBytes(count: NewItem.secretLimit)).release())
    let error: @Sendable () async -> String? = {
      let secret = BusValue.array(of: "h", [.descriptor(file)])
      return await client.error("Respond", [.bytes([]), .string("secret"), .int64(1), secret])?.name
    }
    let answers = (0..<15).map { _ in Task { await error() } }
    #expect(try await eventually { gate.count == 15 })
    #expect(await error() == Self.prefix + "Busy")
    // One without a secret is a small one.
    let cancel = Task {
      await client.error("Respond", [.bytes([]), .string("cancel"), .int64(0), .array(of: "h", [])])?.name
    }
    #expect(try await eventually { gate.count == 16 })
    gate.open()
    for answer in answers + [cancel] { #expect(await answer.value == nil) }
    #expect(await error() == nil)
  }

  @Test("a vault's client that leaves ends its calls and vault connection, and leaves no descriptors")
  func goodbye() async {
    // In a new process, because other tests open files at the same time.
    await onOwnThread {
      await #expect(processExitsWith: .success) {
        let gate = Gate()
        let ended = Mutex<[String]>([])
        let vault = StubVault(
          .init(
            unlock: { _ throws(VaultError) in
              do throws(VaultError) {
                try await gate.wait()
              } catch {
                ended.withLock { $0.append("call") }
                throw error
              }
            }, close: { ended.withLock { $0.append("connection") } }))
        // Make one connection first, since it opens descriptors that all connections share.
        let first = try RawClient(to: StubVault())
        try await first.open()
        first.connection.close()
        #expect(try await eventually { first.isClosed.isSet })
        // The first timer of a process opens descriptors too.
        try await Task.sleep(for: .milliseconds(1))
        let before = try openDescriptors()
        do {
          let client = try RawClient(to: vault)
          try await client.open()
          let waiting = Task { try await client.call("Unlock", [Self.asking]) }
          #expect(try await eventually { gate.count == 1 })
          client.connection.close()
          _ = await waiting.result
          #expect(try await eventually { client.isClosed.isSet })
        }
        #expect(try await eventually { ended.withLock { $0 } == ["connection", "call"] })
        #expect(try await eventually { try openDescriptors() <= before })
      }
    }
  }

  @Test("a vault's client ends the connection by closing only its own half")
  func halfClosed() async throws {
    let (mine, theirs) = try socketPair()
    defer { close(mine) }
    let (vault, isClosed) = (StubVault(), Flag())
    _ = try VaultBusServer(socket: theirs, connection: vault, onClosed: { isClosed.set() })
    shutdown(mine, Int32(SHUT_WR))
    #expect(try await eventually { isClosed.isSet && vault.isClosed })
  }

  @Test("a vault's client that passes 200 secrets at once leaves no descriptors open")
  func flood() async {
    // In a new process, because other tests open files at the same time.
    await onOwnThread {
      await #expect(processExitsWith: .success) {
        let vault = StubVault()
        let client = try RawClient(to: vault)
        try await client.open()
        let file = BusDescriptor(taking: try SealedFile.make(of: SecretBytes(count: 3)).release())
        let secret = BusValue.array(of: "h", [.descriptor(file)])
        let before = try openDescriptors()
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<200 {
            group.addTask {
              let error = await client.error("Respond", [.bytes([]), .string("secret"), .int64(1), secret])?.name
              #expect(error == nil)
            }
          }
        }
        #expect(vault.responses.count == 200)
        #expect(try await eventually { try openDescriptors() <= before + 2 })
        client.connection.close()
        #expect(try await eventually { client.isClosed.isSet })
      }
    }
  }
}

extension ContextOptions {
  /// The options for `OpenContext`, encoded by hand.
  var busValueForTests: BusValue {
    .dictionary([
      "interaction-not-allowed": .boolean(false), "prefer-passcode": .boolean(false),
      "passcode-supplied": .boolean(false), "fallback": .string("at-once"), "keeps-evidence": .boolean(false),
      "reuse": .int64(0),
    ])
  }
}
