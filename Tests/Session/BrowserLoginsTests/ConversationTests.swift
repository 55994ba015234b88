import BrowserLogins
import Foundation
import SecretModel
import Testing
import VaultDriver
import Whorl
import WhorlTesting

@Suite("The conversation with a browser")
struct ConversationTests {
  @Test("a browser is connected after a touch alone, is listed, and is refused once it is forgotten")
  func association() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com", access: .none)
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.exchange()
        #expect(try await browser.passwords("https://example.com/") == ["error 8"])
        desk.person.willRespond(.cancel)
        #expect(try await browser.associate()["errorCode"] as? String == "6")
        #expect(try await Association.all(in: desk.store).isEmpty)
        _ = desk.asked()
        #expect(try await browser.associate()["success"] as? String == "true")
        #expect(desk.asked() == ["be connected with your store, to ask you for the logins of sites"])
        let all = try await Association.all(in: desk.store)
        #expect(all.map(\.id) == [browser.id])
        #expect(all.first?.program == "/usr/lib/firefox-esr/firefox-esr")
        #expect(browser.id.hasPrefix("firefox-esr-"))
        #expect(try await browser.passwords("https://example.com/") == ["alice=one"])
        #expect(try await Association.forget("another", in: desk.store).isEmpty)
        #expect(try await Association.forget(browser.id, in: desk.store) == [browser.id])
        for _ in 1...2 { #expect(try await browser.passwords("https://example.com/") == ["error 8"]) }
        #expect(try await browser.testAssociate()["errorCode"] as? String == "8")
      }
    }
  }

  @Test("a browser with another key than that of its name is refused, and so is one that associates for another")
  func wrongKeys() async throws {
    try await Desk.with { desk in
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        let right = browser.idKey
        for wrong in ["", "x", String(right.dropLast()), Data([UInt8](repeating: 0, count: 32)).base64EncodedString()] {
          browser.idKey = wrong
          #expect(try await browser.testAssociate()["errorCode"] as? String == "8", "\(wrong)")
        }
        _ = desk.asked()
        let foreign = Data([UInt8](repeating: 9, count: 32)).base64EncodedString()
        let answer = try await browser.ask(["action": "associate", "key": foreign, "idKey": right])
        #expect(answer["errorCode"] as? String == "8")
        #expect(desk.asked().isEmpty)
      }
    }
  }

  @Test("a message that is repeated, changed or sealed for another connection is not answered")
  func sealing() async throws {
    try await Desk.with { desk in
      try await ScriptedBrowser.with(desk) { browser in
        let hash: [String: Any] = ["action": "get-databasehash"]
        try browser.send(["action": "get-databasehash", "message": "AAAA", "nonce": "AAAA", "clientID": "client"])
        #expect(try await browser.receive()?["errorCode"] as? String == "3")
        try await browser.exchange()
        let message = try browser.sealed(hash)
        try browser.send(message)
        #expect(try browser.opened(try #require(await browser.receive()))["hash"] is String)
        var changed = try browser.sealed(hash)
        changed["message"] = Data([UInt8](repeating: 7, count: 64)).base64EncodedString()
        var other = try browser.sealed(hash)
        other["action"] = "lock-database"
        var short = try browser.sealed(hash)
        short["nonce"] = "AAAA"
        var old = try browser.sealed(hash)
        try await browser.exchange()
        for wrong in [message, changed, other, short, old] {
          try browser.send(wrong)
          #expect(try await browser.receive()?["errorCode"] as? String == "4")
        }
        let again = try browser.sealed(hash)
        for code in [nil, "4"] as [String?] {
          try browser.send(again)
          #expect(try await browser.receive()?["errorCode"] as? String == code)
        }
        old = try browser.sealed(hash)
        old["clientID"] = "another"
        try browser.send(old)
        #expect(try await browser.receive()?["errorCode"] as? String == "3")
        for weak in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31), [1, 2, 3]] {
          try browser.send([
            "action": "change-public-keys", "publicKey": Data(weak).base64EncodedString(),
            "nonce": Data(ScriptedBrowser.nonce()).base64EncodedString(), "clientID": "client",
          ])
          #expect(try await browser.receive()?["errorCode"] as? String == "3")
        }
      }
    }
  }

  @Test("what Whorl does not do is refused with the protocol's errors, and passwords are made without a touch")
  func otherActions() async throws {
    try await Desk.with { desk in
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        _ = desk.asked()
        for (action, code) in [
          ("create-new-group", "17"), ("request-autotype", "12"), ("passkeys-get", "20"), ("passkeys-register", "20"),
          ("get-database-entries", "19"), ("delete-entry", "12"), ("get-totp", "18"), ("unheard-of", "12"),
        ] {
          #expect(try await browser.ask(["action": action])["errorCode"] as? String == code, "\(action)")
        }
        let made = [
          try await browser.ask(["action": "generate-password", "requestID": "abc"])["password"] as? String,
          try await browser.ask(["action": "generate-password"])["password"] as? String,
        ]
        #expect(made.allSatisfy { ($0?.utf8.count ?? 0) >= 16 } && made[0] != made[1])
        #expect(try await browser.ask(["action": "get-database-groups"])["groups"] is [Any])
        #expect(desk.asked().isEmpty)
      }
    }
  }

  @Test("a browser is told that the store is closed where there is none")
  func noStore() async throws {
    try await Desk.with { desk in
      let browser = ScriptedBrowser(desk) { () throws(VaultError) in throw .storeNotFound("/nonexistent") }
      try await browser.exchange()
      for action in ["get-databasehash", "associate", "test-associate", "get-logins", "set-login", "generate-password"]
      {
        #expect(try await browser.ask(["action": action])["errorCode"] as? String == "1", "\(action)")
      }
      await browser.end()
    }
  }

  @Test(
    "a browser that has the person open a closed store is answered at once, and is told once it is open",
    .timeLimit(.minutes(1)))
  func opening() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com", access: .none)
      try await makeWaitForPasscode(storeAt: desk.temporary.directory, passcode: "1234")
      let toOpen = "unlock the store, and then look for logins"
      // Nobody answers this prompt, so that only an answer in front of it comes.
      desk.person.willRespond(.nothing)
      try await ScriptedBrowser.withClosedStore(desk) { browser in
        #expect(try await browser.askToOpen() == "1")
        let again = try await browser.ask(["action": "get-databasehash"])
        #expect(again["errorCode"] as? String == "1")
        try await desk.waitForPrompt()
        #expect(desk.asked() == [toOpen])
      }
      try await ScriptedBrowser.withClosedStore(desk) { browser in
        for _ in 1...2 {
          // Without the wish to open it, nobody is asked.
          let closed = try await browser.ask(["action": "get-databasehash"])
          #expect(closed["errorCode"] as? String == "1")
        }
        #expect(desk.asked().isEmpty)
        desk.person.willRespond(.cancel)
        #expect(try await browser.askToOpen() == "1")
        #expect(try await browser.askToOpen() == "1")
        // Of the second time alone: the first was cancelled.
        #expect(try await browser.receive()?["action"] as? String == "database-unlocked")
        #expect(try await browser.ask(["action": "get-databasehash"])["hash"] is String)
        #expect(desk.asked() == [toOpen, toOpen])
        // An open store has no prompt, and no message of its own.
        #expect(try await browser.askToOpen() == nil)
        #expect(try await browser.associate()["success"] as? String == "true")
        #expect(try await browser.passwords("https://example.com/") == ["alice=one"])
      }
    }
  }

  @Test("other messages are answered while a request waits for a finger, which ends with the connection")
  func meanwhile() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        desk.person.willRespond(.nothing)
        let url = "https://example.com/"
        for _ in 1...5 { try browser.send(try browser.sealed(["action": "get-logins", "url": url])) }
        // The fifth is more than a person can answer.
        #expect(try await browser.receive()?["errorCode"] as? String == "6")
        #expect(try await browser.ask(["action": "get-databasehash"])["hash"] is String)
      }
    }
  }

  @Test("hostile messages get an error or the end of the connection, and release nothing")
  func hostile() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "very secret one", at: "example.com", access: .none)
      let seed = UInt64.random(in: 0...UInt64.max)
      var generator = Seeded(state: seed)
      for round in 0..<12 {
        let browser = ScriptedBrowser(desk)
        if round % 2 == 1 { try await browser.exchange() }
        for _ in 0..<40 {
          let bytes = try message(browser, &generator)
          browser.send(bytes)
          guard let answer = try await browser.receive() else {
            Issue.record("the host has ended, seed \(seed)")
            break
          }
          #expect("\(answer)".contains("very secret") == false)
          #expect(
            answer["errorCode"] is String || answer["message"] is String || answer["publicKey"] is String, "\(seed)")
        }
        await browser.end()
      }
      for raw in [[255, 255, 255, 255], [1, 0, 16, 0] + [UInt8](repeating: 65, count: 100), [9, 0, 0, 0, 1], [1]] {
        let browser = ScriptedBrowser(desk)
        browser.sendRaw(raw.map { UInt8($0) })
        await browser.end()
      }
    }
  }

  private func message(_ browser: ScriptedBrowser, _ generator: inout Seeded) throws -> [UInt8] {
    let actions = ["get-logins", "associate", "test-associate", "set-login", "get-totp", "change-public-keys", "x"]
    let action = actions[Int.random(in: actions.indices, using: &generator)]
    let values: [Any] = [
      "", "\u{0}", String(repeating: "a", count: 70_000), 7, -1.5e300, NSNull(), [], [[[]]], ["a": ["b": "c"]], true,
      "https://example.com", "😀\"\\",
    ]
    var fields: [String: Any] = ["action": action]
    for name in ["url", "submitUrl", "id", "key", "idKey", "login", "password", "uuid", "keys", "nonce"] {
      if Bool.random(using: &generator) { fields[name] = values[Int.random(in: values.indices, using: &generator)] }
    }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0:
      return (0..<Int.random(in: 0..<300, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    case 1: return Array(String(repeating: "[", count: 200_000).utf8)
    case 2: return Array(String(repeating: #"{"a":"#, count: 100_000).utf8)
    case 3:
      var bytes = Array(try JSONSerialization.data(withJSONObject: fields))
      bytes[Int.random(in: bytes.indices, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      return bytes
    case 4: return Array(try JSONSerialization.data(withJSONObject: fields))
    default:
      guard let sealed = try? browser.sealed(fields) else { return [] }
      return Array(try JSONSerialization.data(withJSONObject: sealed))
    }
  }
}

/// SplitMix64, for inputs that a seed gives again.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
