import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultHost
import VaultItems
import VaultStore

/// The contract of a vault's calls, wherever the vault is.
@Suite("A vault, in process and over a socket")
struct ContractTests {
  private static func item(_ service: String, _ access: AccessControl = .none) -> NewItem {
    NewItem(.genericPassword, [.service: .text(service)], access: access)
  }

  private static func isInvalidRequest(_ error: any Error) -> Bool {
    if case .invalidRequest? = error as? VaultError { true } else { false }
  }

  @Test("a vault locks what the passcode opened, and reports what is open", arguments: Way.allCases)
  func lock(_ way: Way) async throws {
    let open = try await OpenScratch(way, .passcode)
    let vault = open.vault
    #expect(try await vault.status().openClasses.isEmpty)
    #expect(try await vault.openClasses().isEmpty)
    try await open.asking(answering: OpenScratch.passcode) { try await vault.unlock($0) }
    _ = try await vault.add(Self.item("a"), secret: SecretBytes(text: "1"), replacing: false, .nobody)
    let unlocked = try await vault.status()
    #expect(unlocked.firstUnlock == .passcode && unlocked.openClasses == Accessibility.allCases)
    #expect(try await vault.openClasses() == Accessibility.allCases)
    #expect(try #require(unlocked.passcodeDeadline) > 0)
    try await vault.lock()
    await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) {
      _ = try await vault.secrets(.search(ItemSearch(.genericPassword)), .nobody)
    }
    #expect(try await vault.status().passcodeDeadline == nil)
    let plain = try await OpenScratch(way)
    await #expect { try await plain.vault.lock() } throws: { Self.isInvalidRequest($0) }
  }

  @Test("a vault notifies waiting callers of an unlock by passcode, and of a lock", arguments: Way.allCases)
  func unlockChange(_ way: Way) async throws {
    let open = try await OpenScratch(way, .passcode)
    let vault = open.vault
    #expect(try await vault.unlockChange(from: true) == false, "a state that is another one already")
    async let opened = vault.unlockChange(from: false)
    async let alsoOpened = vault.unlockChange(from: false)
    try await open.asking(answering: OpenScratch.passcode) { try await vault.unlock($0) }
    #expect(try await [opened, alsoOpened] == [true, true])
    let closed = Task { try await vault.unlockChange(from: true) }
    // Opening it again changes nothing.
    try await open.asking(answering: OpenScratch.passcode) { try await vault.unlock($0) }
    try await vault.lock()
    #expect(try await closed.value == false)
    let cancelled = Task { try await vault.unlockChange(from: false) }
    cancelled.cancel()
    await #expect(throws: VaultError.cancelled) { try await cancelled.value }
    let later = Task { try await vault.unlockChange(from: false) }
    try await Task.sleep(for: .milliseconds(20))
    later.cancel()
    await #expect(throws: VaultError.cancelled) { try await later.value }
  }

  @Test("a vault notifies callers that wait for its surroundings of a lock, even a past lock", arguments: Way.allCases)
  func surroundings(_ way: Way) async throws {
    let open = try await OpenScratch(way, .passcode)
    let vault = open.vault
    try await open.asking(answering: OpenScratch.passcode) { try await vault.unlock($0) }
    let known = try await vault.surroundings(otherThan: nil)
    #expect(try await vault.surroundings(otherThan: nil) == known)
    let waiting = (0..<2).map { _ in Task { try await vault.surroundings(otherThan: known) } }
    try await Task.sleep(for: .milliseconds(20))
    try await vault.lock()
    try await open.asking(answering: OpenScratch.passcode) { try await vault.unlock($0) }
    for call in waiting { #expect(try await call.value.locks == known.locks + 1) }
    #expect(try await vault.surroundings(otherThan: known).locks == known.locks + 1)
    let cancelled = Task { [now = try await vault.surroundings(otherThan: nil)] in
      try await vault.surroundings(otherThan: now)
    }
    try await Task.sleep(for: .milliseconds(20))
    cancelled.cancel()
    await #expect(throws: VaultError.cancelled) { try await cancelled.value }
  }

  @Test(
    "a vault answers 500 simultaneous calls, and 100 waiting calls can be cancelled", arguments: Way.allCases)
  func manyCalls(_ way: Way) async throws {
    let open = try await OpenScratch(way, .passcode)
    let vault = open.vault
    try await withThrowingTaskGroup { group in
      for _ in 0..<500 { group.addTask { try await vault.status().items } }
      for try await items in group { #expect(items == 0) }
    }
    let waiting = (0..<100).map { _ in Task { try await vault.unlockChange(from: false) } }
    try await Task.sleep(for: .milliseconds(100))
    for call in waiting { call.cancel() }
    for call in waiting { await #expect(throws: VaultError.cancelled) { try await call.value } }
    #expect(try await vault.status().items == 0)
  }

  @Test("a vault stores, finds, releases, changes and removes items", arguments: Way.allCases)
  func items(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let vault = open.vault
    let names = try ["mail/alice", "mail/bob"].map { try ItemName(parsing: $0) }
    for name in names {
      let added = try await vault.add(
        NewItem(named: name, access: .none), secret: SecretBytes(text: name.account), replacing: false, .nobody)
      #expect(added.name == name)
      #expect(added.state == .living)
    }
    await #expect(throws: VaultError.duplicateItem) {
      _ = try await vault.add(
        NewItem(named: names[0], access: .none), secret: SecretBytes(text: "x"), replacing: false, .nobody)
    }
    let search = ItemSearch(.genericPassword, [.service: .text("mail")])
    let found = try await vault.items(search, .nobody)
    #expect(found.items.map(\.name) == names)
    #expect(found.next == nil)
    let group = AccessGroup.commandLine
    for selection in [
      ItemSelection.ids(found.items.map(\.id)), .names(names), .open(names, group: group), .search(search),
    ] {
      let released = try await vault.secrets(selection, .nobody)
      #expect(released.map(\.text) == ["alice", "bob"])
      #expect(released.map(\.item) == found.items)
    }
    #expect(try await vault.secrets(.search(ItemSearch(.key)), .nobody).isEmpty)
    let change = ItemChange(attributes: [.label: .text("work")], accessibility: .afterFirstUnlock)
    #expect(try await vault.update(.names([names[0]]), change, secret: SecretBytes(text: "new"), .nobody) == 1)
    let changed = try await vault.secrets(.names([names[0]]), .nobody)[0]
    #expect(changed.text == "new")
    #expect(changed.item.attributes[.label] == .text("work"))
    #expect(changed.item.accessibility == .afterFirstUnlock)
    #expect(
      try await vault.update(.names([names[0]]), ItemChange(attributes: [.label: nil]), secret: nil, .nobody) == 1)
    #expect(try await vault.items(search, .nobody).items[0].attributes[.label] == nil)
    #expect(try await vault.delete(.names([names[0]])) == 1)
    await #expect(throws: VaultError.itemGone) { _ = try await vault.secrets(.names(names), .nobody) }
    #expect(try await vault.delete(.search(search)) == 1)
    await #expect(throws: VaultError.itemGone) { _ = try await vault.delete(.search(search)) }
    await open.connection.close()
  }

  @Test(
    "a read or deletion of a group's open items by name skips missing and protected items", arguments: Way.allCases)
  func openSelection(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let vault = open.vault
    let names = try ["one", "gated", "missing", "two"].map { try ItemName(parsing: "mail/\($0)") }
    for (name, access) in [(names[0], .none), (names[1], .passcode), (names[3], .none)]
      as [(ItemName, AccessControl.Constraint)]
    {
      for group in ["mine", AccessGroup.commandLine] {
        let item = NewItem(
          .genericPassword,
          [.service: .text(name.service), .account: .text(name.account), .accessGroup: .text(group)],
          access: AccessControl(access))
        _ = try await vault.add(
          item, secret: SecretBytes(text: "\(group) \(name.account)"), replacing: false, .nobody)
      }
    }
    let released = try await vault.secrets(.open(names.reversed(), group: "mine"), .nobody)
    #expect(released.map(\.text) == ["mine two", "mine one"])
    #expect(try await vault.secrets(.open([names[1]], group: "mine"), .nobody).isEmpty)
    #expect(try await vault.secrets(.open([], group: "mine"), .nobody).isEmpty)
    // A deletion by such a selection skips the same items.
    #expect(try await vault.delete(.open(names, group: "mine")) == 2)
    #expect(try await vault.secrets(.open(names, group: "mine"), .nobody).isEmpty)
    #expect(try await vault.secrets(.names([names[0]]), .nobody).map(\.text) == ["\(AccessGroup.commandLine) one"])
    await open.connection.close()
  }

  @Test("a vault keeps attributes unchanged, also text that D-Bus strings cannot hold", arguments: Way.allCases)
  func attributes(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let attributes: [AttributeName: AttributeValue] = [
      .service: .text("a\u{0}b"), .account: .text("\u{FFFE}\u{1F511}"), .label: .text(""),
      .init(rawValue: "icmt\u{0}"): .bytes([0, 0xFF, 0x80]), .init(rawValue: "\u{FFFF}"): .number(.min),
      .creator: .number(.max), .startDate: .date(-0.125),
    ]
    let added = try await open.vault.add(
      NewItem(.genericPassword, attributes), secret: SecretBytes(count: 0), replacing: false, .nobody)
    for (name, value) in attributes { #expect(added.attributes[name] == value) }
    for (name, value) in attributes where name != .label {
      #expect(try await open.vault.items(ItemSearch(nil, [name: value]), .nobody).items == [added], "\(name)")
    }
    #expect(try await open.vault.secrets(.ids([added.id]), .nobody)[0].text == "")
    await open.connection.close()
  }

  @Test("a vault stores a secret of the maximum length, and names the limit for a longer one", arguments: Way.allCases)
  func longSecrets(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    var secret = SecretBytes(count: NewItem.secretLimit)
    secret.withUnsafeMutableBytes {
      for index in stride(from: 0, to: $0.count, by: 4_096) { $0[index] = UInt8(index >> 12 & 0xFF) }
    }
    let same = secret.copy()
    let added = try await open.vault.add(Self.item("long"), secret: secret, replacing: false, .nobody)
    let isSame = try await open.vault.secrets(.ids([added.id]), .nobody)[0].secret.constantTimeEquals(same)
    #expect(isSame)
    await #expect(throws: VaultError.secretTooLong(limit: NewItem.secretLimit)) {
      _ = try await open.vault.add(
        Self.item("longer"), secret: SecretBytes(count: NewItem.secretLimit + 1), replacing: false, .nobody)
    }
    await #expect(throws: VaultError.secretTooLong(limit: NewItem.secretLimit)) {
      _ = try await open.vault.update(
        .ids([added.id]), ItemChange(), secret: SecretBytes(count: NewItem.secretLimit + 1), .nobody)
    }
    await open.connection.close()
  }

  @Test("a vault releases many secrets in one call, each with its own item", arguments: Way.allCases)
  func manySecrets(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    for number in 0..<300 {
      _ = try await open.vault.add(
        Self.item("s\(number)"), secret: SecretBytes(text: String(repeating: "\(number)", count: number % 7)),
        replacing: false, .nobody)
    }
    let released = try await open.vault.secrets(.search(ItemSearch(.genericPassword)), .nobody)
    #expect(released.count == 300)
    for (number, item) in released.enumerated() {
      #expect(item.text == String(repeating: "\(number)", count: number % 7))
    }
    let found = try await open.vault.allItems(ItemSearch(.genericPassword))
    #expect(found == released.map(\.item))
    await open.connection.close()
  }

  @Test("a vault distinguishes its errors, with their details", arguments: Way.allCases)
  func errors(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let vault = open.vault
    await #expect {
      _ = try await vault.delete(.search(ItemSearch()))
    } throws: { Self.isInvalidRequest($0) }
    await #expect(throws: VaultError.itemGone) {
      _ = try await vault.useKey(ItemID(bytes: Array(repeating: 7, count: 16)), .export, .nobody)
    }
    await #expect(throws: VaultError.notEnrolled) {
      _ = try await vault.add(
        Self.item("bound", AccessControl(.currentSet)), secret: SecretBytes(text: "x"), replacing: false, .nobody)
    }
    await #expect(throws: VaultError.interactionNotAllowed) { try await vault.unlock(.nobody) }
    let missing = StorePlace(directory: "/nonexistent/\u{FFFE}")
    let other = try way.connect(to: try await ScratchConnection())
    await #expect(throws: VaultError.storeNotFound("\(missing)")) { _ = try await other.open(missing) }
    await other.close()
    await open.connection.close()
  }

  @Test("a vault reports its passcode, its state and the items that need the passcode", arguments: Way.allCases)
  func state(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    _ = try await open.vault.add(
      Self.item("p", AccessControl(.passcode)), secret: SecretBytes(text: "x"), replacing: false, .nobody)
    let biometry = try await open.vault.biometry()
    #expect(biometry.passcodeSet)
    #expect(biometry.problem != nil)
    #expect(biometry.state == nil)
    let status = try await open.vault.status()
    #expect(status.directory == open.scratch.store.path)
    #expect(status.items == 1)
    #expect(status.passcodeSet)
    #expect(try await open.vault.problems().isEmpty)
    #expect(try await open.vault.detectedRestore() == nil)
    #expect(try await open.vault.losses(.passcode).map(\.description) == ["p"])
    await open.connection.close()
  }

  @Test("a vault changes and removes the passcode, and takes the recovery key", arguments: Way.allCases)
  func passcodes(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    _ = try await open.vault.add(
      Self.item("p", AccessControl(.passcode)), secret: SecretBytes(text: "x"), replacing: false, .nobody)
    try await open.asking(answering: {
      switch $0 {
      case .passcode: ScratchStore.passcode
      case .newPasscode: "another passcode"
      default: nil
      }
    }) { try await open.vault.changePasscode($0) }
    let ids = try await open.vault.items(ItemSearch(.genericPassword), .nobody).items.map(\.id)
    let released = try await open.asking(answering: { _ in "another passcode" }) {
      try await open.vault.secrets(.ids(ids), $0).map(\.text)
    }
    #expect(released == ["x"])
    let key = open.scratch.store.recoveryKey
    let died = try await open.asking(answering: {
      switch $0 {
      case .recoveryKey: key
      case .newPasscode: "a third passcode"
      default: nil
      }
    }) { try await open.vault.recover(accepting: nil, $0) }
    #expect(died.isEmpty)
    let lost = try await open.asking(answering: { _ in "a third passcode" }) { try await open.vault.removePasscode($0) }
    #expect(lost.map(\.description) == ["p"])
    await open.connection.close()
  }

  @Test("a vault makes one-time codes of passwords that hold a seed, and of nothing else", arguments: Way.allCases)
  func codes(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    func add(_ name: String, _ secret: String, _ access: AccessControl = .none) async throws -> ItemID {
      try await open.vault.add(
        NewItem(named: try ItemName(parsing: name), access: access), secret: SecretBytes(text: secret),
        replacing: false,
        .nobody
      ).id
    }
    let address = "otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&digits=8"
    for id in [
      try await add("a#totp", "GEZDGNBVGY3TQOJQ"), try await add("b/c#totp", address), try await add("d", address),
    ] {
      let answer = OneTimeCode(answer: try await open.vault.useKey(id, .oneTimeCode, .nobody))
      let code = try #require(answer)
      #expect([6, 8].contains(code.digits.bytes.count))
    }
    let key = try await open.vault.addKey(NewItem(.key, [.label: .text("k")]), from: .generated(.ec(.p256))).id
    for id in [try await add("e", "GEZDGNBVGY3TQOJQ"), key] {
      await #expect {
        _ = try await open.vault.useKey(id, .oneTimeCode, .nobody)
      } throws: { Self.isInvalidRequest($0) }
    }
    let closed = try await add("f#totp", address, AccessControl(.passcode))
    await #expect(throws: VaultError.interactionNotAllowed) {
      _ = try await open.vault.useKey(closed, .oneTimeCode, .nobody)
    }
    await open.connection.close()
  }

  @Test("a vault signs only with private keys, and exports only those that may leave it", arguments: Way.allCases)
  func keys(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let signing = KeyUse.sign([1, 2], .ecdsa(.sha256, .message, .rfc4754))
    let made = try await open.vault.addKey(NewItem(.key, [.label: .text("k")]), from: .generated(.ec(.p256)))
    #expect(try await open.vault.useKey(made.id, signing, .nobody).count == 64)
    let stays = VaultError.invalidRequest("this key is used in the vault and never leaves it")
    await #expect(throws: stays) { _ = try await open.vault.useKey(made.id, .export, .nobody) }
    await #expect(throws: stays) { _ = try await open.vault.secrets(.ids([made.id]), .nobody) }
    // As a program stores a private key (`kSecAttrKeyClassPrivate`) of its own.
    let free = NewItem(.key, [.label: .text("f"), .keyClass: .text("1"), .keyType: .text(KeyFamily.ec.keyType)])
    let stored = try await open.vault.add(free, secret: SecretBytes(text: "any bytes"), replacing: false, .nobody)
    let exported = try await open.vault.useKey(stored.id, .export, .nobody).text
    #expect(exported == "any bytes")
    await #expect {
      _ = try await open.vault.useKey(stored.id, signing, .nobody)
    } throws: { Self.isInvalidRequest($0) }
    let other = try await open.vault.add(
      NewItem(.key, [.label: .text("o")]), secret: SecretBytes(text: "any bytes"), replacing: false, .nobody)
    for use in [signing, .export] {
      await #expect(throws: VaultError.invalidRequest("this item is not a private key")) {
        _ = try await open.vault.useKey(other.id, use, .nobody)
      }
    }
    await open.connection.close()
  }

  @Test(
    "a new store is kept on request, and else disappears with the connection that made it", arguments: Way.allCases)
  func drafts(_ way: Way) async throws {
    let scratch = try await ScratchConnection()
    let directory = scratch.store.folder + "/another"
    let place = StorePlace(directory: directory)
    let first = try way.connect(to: LocalVaultConnection())
    let lost = try await first.create(place, passcode: SecretBytes(text: "not a passcode"))
    #expect(lost.recoveryKey.text.count > 20)
    await first.close()
    let second = try way.connect(to: LocalVaultConnection())
    await #expect(throws: VaultError.storeNotFound(directory)) { _ = try await second.open(place) }
    await #expect { try await second.keep(lost.id) } throws: { Self.isInvalidRequest($0) }
    let draft = try await second.create(place, passcode: nil)
    try await second.keep(draft.id)
    let vault = try await second.open(place)
    #expect(try await vault.biometry().passcodeSet == false)
    await #expect { _ = try await second.open(place) } throws: { Self.isInvalidRequest($0) }
    await second.close()
  }
}
