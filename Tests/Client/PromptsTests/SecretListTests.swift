import Primitives
import Prompts
import SecretModel
import Testing

@Suite("List of secrets")
struct SecretListTests {
  private func item(
    _ number: UInt8, _ service: String, account: String = "", group: String = "org.example.mail",
    as itemClass: ItemClass = .genericPassword
  ) -> Item {
    Item(
      id: ItemID(bytes: [UInt8](repeating: number, count: 16)), state: .living, itemClass: itemClass,
      attributes: [
        itemClass == .passkey ? .relyingParty : .service: .text(service), .account: .text(account),
        .accessGroup: .text(group),
      ], access: .none, accessibility: .whenUnlocked, created: Double(number), modified: 0)
  }

  @Test("A list has its entries in the order of their names, whatever their case")
  func order() {
    let list = SecretList([item(1, "b"), item(2, "C"), item(3, "a")])
    #expect(list.entries(of: .secret, matching: "").map(\.title) == ["a", "b", "C"])
  }

  @Test(
    "A search finds entries by each of its words, in the name, the account and the group",
    arguments: [("MAIL alice", 1), ("bank", 1), ("org.example", 2), ("alice bank", 0), ("  ", 2), ("É", 0)])
  func search(text: String, count: Int) {
    let list = SecretList([item(1, "mail", account: "alice"), item(2, "Bank", account: "bob")])
    #expect(list.entries(of: .secret, matching: text).count == count)
  }

  @Test("A list keeps secrets, passkeys and keys apart")
  func kinds() {
    let list = SecretList([item(1, "mail"), item(2, "example.org", as: .passkey), item(3, "", as: .key)])
    for kind in SecretEntry.Kind.allCases { #expect(list.entries(of: kind, matching: "").count == 1) }
  }

  @Test("An item without a name, and one that is damaged, can be shown")
  func unnamed() {
    let damaged = Item(
      id: ItemID(bytes: []), state: .damaged, itemClass: nil, attributes: [:], access: .none,
      accessibility: .whenUnlocked, created: 0, modified: 0)
    let list = SecretList([item(1, ""), damaged])
    #expect(list.entries(of: .secret, matching: "").map(\.title) == ["(no name)", "(no name)"])
    #expect(list.entries.filter(\.isReadable).count == 1)
  }

  @Test("A search of the desktop finds items of all kinds up to its limit, and nothing without a word")
  func desktop() {
    let list = SecretList([item(1, "post"), item(2, "post.test", as: .passkey), item(3, "post2"), item(4, "bank")])
    #expect(list.readable(matching: "POST", limit: 9).map(\.title) == ["post", "post2", "post.test"])
    #expect(list.readable(matching: "post", limit: 2).count == 2)
    for nothing in ["", " \t", "post bank"] { #expect(list.readable(matching: nothing, limit: 9).isEmpty) }
  }

  @Test("The seed of one-time codes is in the item itself or in the one beside it, of the same program")
  func seeds() {
    let own = item(1, "mail", account: "alice")
    let seed = item(2, "mail", account: "alice#totp")
    let other = item(3, "mail", account: "alice", group: "org.example.other")
    let list = SecretList([own, seed, other])
    let seeds = list.entries.reduce(into: [:]) { $0[$1.id] = list.seed(of: $1)?.id }
    #expect(seeds == [own.id: seed.id, seed.id: seed.id])
  }

  @Test("A name cannot change the direction of the line that it is in")
  func direction() {
    #expect(!SecretList([item(1, "a\u{202E}b")]).entries[0].title.unicodeScalars.contains("\u{202E}"))
  }
}

@Suite("Generator of passwords")
struct PasswordGeneratorTests {
  private func text(_ password: borrowing SecretBytes) -> String {
    password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test("A password has the wanted length, and at least 8 characters", arguments: [(20, 20), (0, 8), (1_000, 128)])
  func length(wanted: Int, made: Int) {
    #expect(text(PasswordGenerator(length: wanted).password()).count == made)
  }

  @Test("Passwords differ, and have every character of their alphabet with much the same frequency")
  func distribution() {
    var counts: [Character: Int] = [:]
    var made: Set<String> = []
    for _ in 0..<200 {
      let password = text(PasswordGenerator(length: 128, .lettersAndDigits).password())
      made.insert(password)
      for character in password { counts[character, default: 0] += 1 }
    }
    #expect(made.count == 200)
    #expect(counts.count == 57)
    // 449 are expected of each; the chance that one is this far off is below one in a million.
    #expect(counts.values.allSatisfy { (300...600).contains($0) })
  }
}

@Suite("List of activity")
struct ActivityListTests {
  @Test("Activity has the newest request first, with its program, its items by name, and how it ended")
  func entries() {
    let item = Item(
      id: ItemID(bytes: [UInt8](repeating: 1, count: 16)), state: .living, itemClass: .genericPassword,
      attributes: [.service: .text("mail")], access: .none, accessibility: .whenUnlocked, created: 0, modified: 0)
    let gone = ItemID(bytes: [UInt8](repeating: 2, count: 16))
    let log = [
      AuditEntry(
        time: 1, program: "ssh\u{1B}[2J", process: 7, request: .useKey, items: [gone], outcome: .failed(.timedOut)),
      AuditEntry(
        time: 2, program: "whorl-agent", process: 8, behalf: "Evolution", request: .read, items: [item.id],
        prompts: [.touch], outcome: .done),
    ]
    let list = ActivityList(log, of: [item])
    let shown = list.entries(matching: "")
    #expect(shown.map(\.isDone) == [true, false])
    #expect(shown[0].title == "Evolution through whorl-agent: read")
    #expect(shown[0].summary.hasSuffix(" · mail · done · asked for touch"))
    #expect(shown[1].summary.hasSuffix(" · something that is gone · not answered"))
    #expect(!shown[1].title.contains("\u{1B}"))
    #expect(list.entries(matching: "MAIL done").count == 1)
    #expect(list.entries(matching: "firefox").isEmpty)
  }
}
