import Keys
import Presence
import Primitives
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("Items of all classes are found by their attributes, changed and removed")
struct ClassItemTests {
  private static func secret(_ text: String = "secret") -> SecretBytes { SecretBytes(text: text) }

  private func add(
    _ vault: Vault, _ attributes: [AttributeName: AttributeValue], _ itemClass: ItemClass = .genericPassword,
    access: AccessControl = .none, secret: String = "secret"
  ) async throws -> Item {
    try await vault.add(
      NewItem(itemClass, attributes, access: access), secret: SecretBytes(text: secret), in: nil)
  }

  private func read(_ vault: Vault, _ id: ItemID) async throws -> String {
    try await vault.secrets(of: [id], reason: nil, in: nil)[0].text
  }

  @Test("an item search finds the items that match every attribute it names")
  func searches() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let one = try await add(
      vault,
      [.service: .text("mail"), .account: .text("Alice"), .label: .text("work"), .init(rawValue: "icmt"): .text("x")])
    let two = try await add(vault, [.service: .text("mail"), .account: .text("bob")])
    let web = try await add(
      vault, [.server: .text("example.org"), .account: .text("Alice"), .port: .number(443)], .internetPassword)
    func found(_ search: ItemSearch) async throws -> [ItemID] { try await vault.items(search).map(\.id) }

    #expect(try await found(ItemSearch(.genericPassword)) == [one.id, two.id])
    #expect(try await found(ItemSearch(.genericPassword, [.service: .text("mail")])) == [one.id, two.id])
    #expect(try await found(ItemSearch(.genericPassword, [.service: .text("mail")], limit: 1)) == [one.id])
    #expect(try await found(ItemSearch(.genericPassword, [.account: .text("Alice")])) == [one.id])
    #expect(try await found(ItemSearch(.genericPassword, [.account: .text("alice")])).isEmpty)
    #expect(try await found(ItemSearch(.genericPassword, [.account: .text("alice")], ignoresCase: true)) == [one.id])
    #expect(try await found(ItemSearch(.genericPassword, [.init(rawValue: "icmt"): .text("x")])) == [one.id])
    #expect(try await found(ItemSearch(.genericPassword, [.label: .text("work"), .account: .text("bob")])).isEmpty)
    #expect(try await found(ItemSearch(.internetPassword, [.server: .text("example.org")])) == [web.id])
    #expect(try await found(ItemSearch(.internetPassword, [.port: .number(80)])).isEmpty)
    #expect(try await found(ItemSearch(nil, [.account: .text("Alice")])) == [one.id, web.id])
    #expect(try await found(ItemSearch(nil, ids: [web.id, one.id])) == [one.id, web.id])
    #expect(try await found(ItemSearch(.genericPassword, [.account: .text("")])).isEmpty)
  }

  @Test("a search by a client's own attributes finds the items that have all of them, before and after an update")
  func lookups() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    func lookups(_ values: [String: String]) -> [AttributeName: AttributeValue] {
      Dictionary(uniqueKeysWithValues: values.map { (.lookup($0.key), .text($0.value)) })
    }
    func found(_ values: [String: String], _ service: String? = nil) async throws -> [ItemID] {
      var attributes = lookups(values)
      if let service { attributes[.service] = .text(service) }
      return try await vault.items(ItemSearch(.genericPassword, attributes)).map(\.id)
    }
    var ids: [ItemID] = []
    // More than the limit up to which the search counts an attribute's rows, so that it uses another attribute.
    for number in 0..<300 {
      var attributes = lookups(["schema": "s", "number": "\(number)", "half": "\(number % 2)"])
      attributes[.service] = .text("one")
      attributes[.account] = .text("\(number)")
      ids.append(try await add(vault, attributes).id)
    }
    #expect(try await found(["schema": "s"]).count == 300)
    #expect(try await found(["schema": "s", "number": "7"]) == [ids[7]])
    #expect(try await found(["half": "1", "number": "7"], "one") == [ids[7]])
    #expect(try await found(["half": "0", "number": "7"]).isEmpty)
    #expect(try await found(["number": "7"], "two").isEmpty)
    #expect(try await found(["number": "7", "none": "x"]).isEmpty)
    #expect(try await found(["half": "1"]) == stride(from: 1, to: 300, by: 2).map { ids[$0] })
    let change = ItemChange(attributes: [.lookup("number"): .text("new"), .lookup("half"): nil])
    try await vault.update([ids[7]], change, secret: nil, reason: nil, in: nil)
    #expect(try await found(["number": "7"]).isEmpty)
    #expect(try await found(["number": "new"]) == [ids[7]])
    #expect(try await found(["half": "1"]).count == 149)
    try await vault.delete([ids[7]])
    #expect(try await found(["number": "new"]).isEmpty)
  }

  @Test("an item can be found by each of many attributes of a client's own", arguments: [1, 8, 9, 40, 700])
  func manyLookups(_ count: Int) async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let numbers = 0..<count
    let id = try await add(
      vault, Dictionary(uniqueKeysWithValues: numbers.map { (.lookup("number \($0)"), .text("\($0)")) })
    ).id
    for number in numbers {
      let search = ItemSearch(.genericPassword, [.lookup("number \(number)"): .text("\(number)")])
      #expect(try await vault.items(search).map(\.id) == [id])
    }
  }

  @Test("items of the command line and of the library are the same items")
  func sameItems() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("mail/alice", "from the command line")
    let found = try await vault.items(ItemSearch(.genericPassword, [.account: .text("alice")]))
    #expect(try await read(vault, try #require(found.first?.id)) == "from the command line")
    _ = try await add(vault, [.service: .text("web"), .account: .text("bob")], secret: "from the library")
    #expect(try await vault.get("web/bob") == "from the library")
    await #expect(throws: VaultError.duplicateItem) {
      _ = try await add(vault, [.service: .text("mail"), .account: .text("alice")])
    }
  }

  @Test("primary attributes make an item unique, and a missing one is the same as an empty one")
  func unique() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    _ = try await add(vault, [.server: .text("s"), .account: .text("a"), .port: .number(80)], .internetPassword)
    _ = try await add(vault, [.server: .text("s"), .account: .text("a"), .port: .number(443)], .internetPassword)
    _ = try await add(vault, [.server: .text("s"), .account: .text("a")], .internetPassword)
    for same: [AttributeName: AttributeValue] in [
      [.server: .text("s"), .account: .text("a"), .path: .text("")],
      [.server: .text("s"), .account: .text("a"), .port: .number(0), .label: .text("another")],
    ] {
      await #expect(throws: VaultError.duplicateItem) { _ = try await add(vault, same, .internetPassword) }
    }
    _ = try await add(vault, [.server: .text("s"), .account: .text("a"), .accessGroup: .text("g")], .internetPassword)
    _ = try await add(
      vault, [.server: .text("s"), .account: .text("a"), .synchronizable: .number(1)], .internetPassword)
    #expect(try await vault.items(ItemSearch(.internetPassword)).count == 4)
    #expect(try await vault.items(ItemSearch(.internetPassword, synchronizable: .any)).count == 5)
    #expect(try await vault.items(ItemSearch(.internetPassword, synchronizable: .yes)).count == 1)
  }

  @Test("an updated item keeps its id and place, is found by its new attributes, and cannot take another's name")
  func updates() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let one = try await add(vault, [.service: .text("a"), .account: .text("1")], secret: "one")
    let two = try await add(vault, [.service: .text("b"), .account: .text("1")], secret: "two")
    try await vault.update(
      [one.id], ItemChange(attributes: [.service: .text("c"), .label: .text("new")]), secret: nil, reason: nil, in: nil)
    #expect(try await vault.items(ItemSearch(.genericPassword, [.service: .text("a")])).isEmpty)
    let moved = try #require(try await vault.items(ItemSearch(.genericPassword, [.service: .text("c")])).first)
    #expect(moved.id == one.id)
    #expect(moved.attributes[.label] == .text("new"))
    #expect(try await read(vault, one.id) == "one")
    try await vault.update([one.id], ItemChange(), secret: SecretBytes(text: "uno"), reason: nil, in: nil)
    #expect(try await read(vault, one.id) == "uno")
    #expect(try await vault.items(ItemSearch(.genericPassword)).map(\.id) == [one.id, two.id])
    await #expect(throws: VaultError.duplicateItem) {
      try await vault.update(
        [one.id], ItemChange(attributes: [.service: .text("b")]), secret: nil, reason: nil, in: nil)
    }
    #expect(try await read(vault, one.id) == "uno", "nothing of a refused update stays")
    try await vault.delete([one.id])
    #expect(try await vault.items(ItemSearch(.genericPassword)).map(\.id) == [two.id])
    await #expect(throws: VaultError.itemGone) { _ = try await read(vault, one.id) }
  }

  @Test("a passcode item is added without a prompt and read with the passcode only")
  func passcodePair() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let item = try await add(vault, [.service: .text("p")], access: try AccessControl(.devicePasscode), secret: "kept")
    await #expect(throws: VaultError.interactionNotAllowed) { _ = try await read(vault, item.id) }
    let person = Person(passcodes: [ScratchStore.passcode])
    let secret = try await person.with(vault) { handle in
      try await vault.secrets(of: [item.id], reason: nil, in: handle)
    }
    #expect(secret[0].text == "kept")
    let changer = Person(passcodes: [ScratchStore.passcode], newPasscode: "another one")
    try await changer.with(vault) { try await vault.changePasscode(in: $0) }
    #expect(try await vault.get("p", by: Person(passcodes: ["another one"])) == "kept", "a new passcode, the same key")
    let remover = Person(passcodes: ["another one"])
    let lost = try await remover.with(vault) { try await vault.removePasscode(in: $0) }
    #expect(lost.count == 1)
    #expect(try await vault.items(ItemSearch(.genericPassword)).isEmpty, "dead items are not found")
    _ = try await add(vault, [.service: .text("p")], secret: "anew")
    #expect(try await vault.get("p") == "anew")
  }

  @Test("a key that is used in the vault cannot be read by any call, and no change allows it")
  func keyStays() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let stays = try await add(
      vault, [.label: .text("k")], .key, access: try AccessControl([.privateKeyUsage]), secret: "key")
    await #expect(throws: VaultError.self) { _ = try await read(vault, stays.id) }
    await #expect(throws: VaultError.self) {
      try await vault.update([stays.id], ItemChange(access: AccessControl.none), secret: nil, reason: nil, in: nil)
    }
    #expect(try await vault.items(ItemSearch(.key))[0].access.flags == [.privateKeyUsage])
    try await vault.update(
      [stays.id], ItemChange(attributes: [.label: .text("l")]), secret: nil, reason: nil, in: nil)
    let named = try await add(vault, [.service: .text("k")], access: try AccessControl([.privateKeyUsage]))
    await #expect(throws: VaultError.self) { _ = try await vault.get("k") }
    await #expect(throws: VaultError.self) { _ = try await read(vault, named.id) }
  }

  @Test("an item that is not a private key cannot sign, even if its secret is a private key")
  func noKey() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let secret = SharedSecret(try PrivateKey.generate(.ec(.p256)).external())
    func used(_ itemClass: ItemClass, _ keyClass: String) async throws {
      let attributes: [AttributeName: AttributeValue] = [
        .label: .text("k"), .keyClass: .text(keyClass), .keyType: .text(KeyFamily.ec.keyType),
      ]
      let item = try await vault.add(NewItem(itemClass, attributes), secret: secret.bytes.copy(), in: nil)
      _ = try await vault.useKey(
        item.id, .sign([1, 2, 3], .ecdsa(.sha256, .message, .x962)), reason: nil, in: nil)
    }
    try await used(.key, "1")
    for (itemClass, keyClass) in [(ItemClass.key, "0"), (.genericPassword, "1")] {
      await #expect(throws: VaultError.invalidRequest("this item is not a private key")) {
        try await used(itemClass, keyClass)
      }
    }
  }

  @Test("an update that names a deleted or dead item changes nothing, and an item that is named twice is changed once")
  func updateOfGone() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let item = try await add(vault, [.service: .text("a")])
    let dead = try await add(vault, [.service: .text("p")], access: try AccessControl(.devicePasscode))
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.removePasscode(in: $0) }
    let deleted = try await add(vault, [.service: .text("d")])
    try await vault.delete([deleted.id])
    let change = ItemChange(attributes: [.label: .text("new")])
    for gone in [dead, deleted] {
      await #expect(throws: VaultError.itemGone) {
        try await vault.update([item.id, gone.id], change, secret: nil, reason: nil, in: nil)
      }
    }
    #expect(try await vault.items(ItemSearch(.genericPassword))[0].attributes[.label] == nil)
    try await vault.update([item.id, item.id], change, secret: nil, reason: nil, in: nil)
    #expect(try await vault.items(ItemSearch(ids: [item.id, item.id])).map { $0.attributes[.label] } == [.text("new")])
  }

  @Test("a control character in an attribute is removed from the item's displayed name")
  func controlCharacters() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    _ = try await add(vault, [.service: .text("a\nb"), .account: .text("\u{1b}[2J")])
    let name = try #require(try await vault.items(.everything)[0].name)
    let scalars = name.description.unicodeScalars
    #expect(!scalars.contains { $0.properties.generalCategory == .control })
  }
}
