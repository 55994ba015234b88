import BrowserLogins
import Foundation
import Moving
import SecretModel
import Testing
import Whorl
import WhorlTesting

@Suite("The logins of the store in a browser")
struct LoginTests {
  @Test("a browser gets both logins of a page after one touch, whose prompt names them and the site")
  func twoAccounts() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one\"\\ü", at: "example.com")
      try await desk.imported("Example/bob", "two", of: "https://example.com/login")
      try await desk.login("carol", "three", at: "example.org")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        _ = desk.asked()
        #expect(
          Set(try await browser.passwords("https://example.com/in", form: "https://example.com/do"))
            == ["alice=one\"\\ü", "bob=two"])
        let asked = desk.asked()
        #expect(asked.count == 1)
        #expect(
          ["“alice”", "“bob”", "to https://example.com"].allSatisfy { asked.first?.contains($0) == true }, "\(asked)")
        #expect(asked.first?.contains("carol") == false)
      }
    }
  }

  @Test("no login is given to a page that only looks like the site, or whose form sends elsewhere, and nobody is asked")
  func otherPages() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        _ = desk.asked()
        for page in ["https://example.com.evil.test/", "https://evilexample.com/", "http://example.com/"] {
          #expect(try await browser.passwords(page) == ["error 15"], "\(page)")
        }
        for form in ["https://evil.test/", "http://example.com/", "ftp://example.com/", "data:text/html,x"] {
          #expect(try await browser.passwords("https://example.com/", form: form) == ["error 15"], "\(form)")
        }
        #expect(try await browser.passwords("about:blank") == ["error 14"])
        #expect(desk.asked().isEmpty)
        for form in ["javascript:void(0)", "https://login.example.com/", ""] {
          #expect(try await browser.passwords("https://example.com/", form: form) == ["alice=one"], "\(form)")
        }
      }
    }
  }

  @Test("the prompt for a page without encryption says so")
  func unencrypted() async throws {
    try await Desk.with { desk in
      try await desk.imported("Old/alice", "one", of: "http://old.example.com")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        _ = desk.asked()
        #expect(try await browser.passwords("http://old.example.com/") == ["alice=one"])
        #expect(desk.asked().first?.contains("NOT ENCRYPTED") == true)
        #expect(try await browser.passwords("https://old.example.com/") == ["alice=one"])
        #expect(desk.asked().first?.contains("NOT ENCRYPTED") == false)
      }
    }
  }

  @Test("a browser gets nothing after Cancel, a strange finger or a lockout")
  func refusals() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        desk.person.willRespond(.cancel)
        #expect(try await browser.passwords("https://example.com/") == ["error 6"])
        desk.person.willRespond(
          .touch(by: .somebodyElse), .touch(by: .somebodyElse), .touch(by: .somebodyElse), .cancel)
        #expect(try await browser.passwords("https://example.com/") == ["error 6"])
        desk.person.willRespond(.touch(by: .somebodyElse), .touch(by: .somebodyElse), .cancel)
        #expect(try await browser.passwords("https://example.com/") == ["error 6"])
      }
    }
  }

  @Test("a touch counts for the same page for a moment, and for no other page and no other connection")
  func keptTouch() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        _ = desk.asked()
        for _ in 1...2 { #expect(try await browser.passwords("https://example.com/") == ["alice=one"]) }
        #expect(desk.asked().count == 1)
        #expect(try await browser.passwords("https://login.example.com/") == ["alice=one"])
        #expect(desk.asked().count == 1)
        // A program that has copied the browser's key, and starts a host itself.
        try await ScriptedBrowser.with(desk) { copy in
          try await copy.exchange()
          (copy.id, copy.idKey) = (browser.id, browser.idKey)
          #expect(try await copy.testAssociate()["success"] as? String == "true")
          desk.person.willRespond(.cancel)
          #expect(try await copy.passwords("https://example.com/") == ["error 6"])
          #expect(desk.asked().count == 1)
        }
      }
    }
  }

  @Test("a new login is stored under the rule for new ones, and a known one is changed after a touch alone")
  func storing() async throws {
    try await Desk.with { desk in
      try await desk.login("bob", "other", at: "example.org")
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        _ = desk.asked()
        func keep(_ account: String, _ password: String, uuid: String? = nil, at url: String = "https://example.com/")
          async throws -> String
        {
          var message = [
            "action": "set-login", "url": url, "submitUrl": url, "id": browser.id, "login": account,
            "password": password,
          ]
          message["uuid"] = uuid
          let answer = try await browser.ask(message)
          return (answer["errorCode"] as? String).map { "error \($0)" } ?? answer["error"] as? String ?? ""
        }
        #expect(try await keep("alice", "one\u{1}ü") == "success")
        #expect(desk.asked().isEmpty)
        #expect(try await browser.passwords("https://example.com/") == ["alice=one\u{1}ü"])
        #expect(desk.asked().count == 1)
        // The same user again.
        #expect(try await keep("alice", "two") == "success")
        #expect(desk.asked().first?.contains("replace the password of “alice” for https://example.com") == true)
        desk.person.willRespond(.cancel)
        #expect(try await keep("alice", "three") == "error 6")
        let entries = try await browser.logins("https://example.com/")["entries"] as? [[String: Any]]
        #expect(entries?.first?["password"] as? String == "two")
        // The extension shows it, and "undefined" without it.
        #expect(entries?.first?["group"] as? String == "Whorl")
        let uuid = try #require(entries?.first?["uuid"] as? String)
        #expect(try await keep("alice", "four", uuid: uuid) == "success")
        // Another site's page cannot change it.
        #expect(try await keep("alice", "five", uuid: uuid, at: "https://example.org/") == "error 18")
        #expect(try await keep("alice", "five", uuid: "x") == "error 18")
        #expect(try await keep("a\nb", "five") == "error 6")
        #expect(try await keep("alice", "") == "error 6")
        #expect(try await browser.passwords("https://example.com/") == ["alice=four"])
        #expect(try await browser.passwords("https://example.org/") == ["bob=other"])
      }
    }
  }

  @Test("a browser gets the one-time code of a login that it has got, after a touch for the code")
  func oneTimeCodes() async throws {
    try await Desk.with { desk in
      try await desk.login("alice", "one", at: "example.com")
      let seed = NewItem(named: try ItemName(parsing: "example.com/alice#totp"), access: AccessControl(.anyFinger))
      try await desk.store.add(seed, secret: SecretBytes(copying: Array("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".utf8).span))
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        let uuid = Hexadecimals.text(
          of: try await desk.store.items(ItemSearch(.internetPassword, groups: .all))[0].id.bytes)
        #expect(try await browser.ask(["action": "get-totp", "uuid": uuid])["errorCode"] as? String == "18")
        let entries = try await browser.logins("https://example.com/")["entries"] as? [[String: Any]]
        #expect(entries?.first?["totp"] != nil)
        #expect(entries?.first?["uuid"] as? String == uuid)
        _ = desk.asked()
        let code = try await browser.ask(["action": "get-totp", "uuid": uuid])["totp"] as? String
        #expect(code?.wholeMatch(of: /[0-9]{6}/) != nil)
        #expect(desk.asked().first?.contains("one-time code of “alice” to https://example.com") == true)
        desk.person.willRespond(.cancel)
        #expect(try await browser.ask(["action": "get-totp", "uuid": uuid])["errorCode"] as? String == "6")
      }
    }
  }

  @Test("a browser finds neither git's passwords nor the notes of an entry without a password")
  func otherItems() async throws {
    try await Desk.with { desk in
      let git = NewItem(
        .internetPassword,
        [
          .server: .text("example.com"), .networkProtocol: .text("htps"), .account: .text("git"),
          .accessGroup: .text(AccessGroup.commandLine),
        ])
      try await desk.store.add(git, secret: SecretBytes(copying: [1].span))
      var notes = NewItem(named: try ItemName(parsing: "Example/alice#notes"), access: AccessControl(.presence))
      notes.attributes[.url] = .text("https://example.com")
      notes.attributes[.label] = .text("Example")
      try await desk.store.add(notes, secret: SecretBytes(copying: [65].span))
      try await ScriptedBrowser.with(desk) { browser in
        try await browser.connect()
        #expect(try await browser.passwords("https://example.com/") == ["error 15"])
      }
    }
  }
}

private enum Hexadecimals {
  static func text(of bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
