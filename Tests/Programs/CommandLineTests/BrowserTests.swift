import Foundation
import Glibc
import ProgramDriver
import Testing

@Suite("whorl browser")
struct BrowserTests {
  private static let name = "org.keepassxc.keepassxc_browser"

  /// A home with folders of Firefox and Chromium.
  private struct Home {
    let store: TestStore
    let firefox: String
    let chromium: String
    let program: String

    init(_ store: TestStore) throws {
      self.store = store
      firefox = "\(store.folder)/.mozilla/native-messaging-hosts/\(BrowserTests.name).json"
      chromium = "\(store.folder)/.config/chromium/NativeMessagingHosts/\(BrowserTests.name).json"
      for folder in [".mozilla", ".config", ".config/chromium", ".config/chromium/NativeMessagingHosts"] {
        mkdir("\(store.folder)/\(folder)", 0o700)
      }
      program = "\(store.folder)/host"
      try writeFile(program, Array("#!/bin/sh\n".utf8))
      chmod(program, 0o700)
    }

    func browser(_ words: String...) async throws -> Invocation.Result {
      try await Invocation(
        arguments: store.arguments(["browser"] + words),
        environment: ["HOME": store.folder, "XDG_CONFIG_HOME": "\(store.folder)/.config"]
      ).run()
    }

    func members(_ path: String) throws -> [String: Any] {
      try JSONSerialization.jsonObject(with: Data(try readFile(path))) as? [String: Any] ?? [:]
    }
  }

  @Test("whorl browser enable writes a file for each browser, and disable removes them")
  func enableAndDisable() async throws {
    try await TestStore.with { store in
      let home = try Home(store)
      for _ in 1...2 {
        let enabled = try await home.browser("enable", "--program", home.program)
        #expect(enabled.status == 0, "\(enabled.diagnostics)")
      }
      let (firefox, chromium) = (try home.members(home.firefox), try home.members(home.chromium))
      #expect(firefox["path"] as? String == home.program && firefox["type"] as? String == "stdio")
      #expect(firefox["name"] as? String == Self.name)
      #expect(firefox["allowed_extensions"] as? [String] == ["keepassxc-browser@keepassxc.org"])
      #expect(firefox["allowed_origins"] == nil && chromium["allowed_extensions"] == nil)
      #expect((chromium["allowed_origins"] as? [String])?.count == 2)
      #expect(try await home.browser("status").text.contains("asks Whorl"))
      try await home.browser("disable").mustSucceed()
      #expect(access(home.firefox, F_OK) != 0 && access(home.chromium, F_OK) != 0)
      try await home.browser("disable").mustSucceed()
    }
  }

  @Test("whorl browser enable takes KeePassXC's place only where it is told to, and disable puts its file back")
  func keepsOthers() async throws {
    try await TestStore.with { store in
      let home = try Home(store)
      let other = Array(#"{"name":"\#(Self.name)","description":"KeePassXC","path":"/usr/bin/keepassxc-proxy"}"#.utf8)
      try writeFile(home.chromium, other)
      let refused = try await home.browser("enable", "--program", home.program)
      #expect(refused.status != 0 && refused.diagnostics.contains("--replace"), "\(refused.diagnostics)")
      #expect(try readFile(home.chromium) == other)
      #expect(access(home.firefox, F_OK) != 0)
      let enabled = try await home.browser("enable", "--program", home.program, "--replace")
      #expect(enabled.status == 0 && enabled.diagnostics.contains("is kept"), "\(enabled.diagnostics)")
      #expect(try home.members(home.chromium)["path"] as? String == home.program)
      // Twice does not lose what was kept.
      try await home.browser("enable", "--program", home.program).mustSucceed()
      try await home.browser("disable").mustSucceed()
      #expect(try readFile(home.chromium) == other)
      #expect(access(home.firefox, F_OK) != 0)
      #expect(try await home.browser("status").text.contains("/usr/bin/keepassxc-proxy"))
      // A file that KeePassXC has written again stays.
      try await home.browser("enable", "--program", home.program, "--replace").mustSucceed()
      try writeFile(home.chromium, other + [0x0A])
      let disabled = try await home.browser("disable")
      #expect(disabled.status == 0 && disabled.diagnostics.contains("by another program since"))
      #expect(try readFile(home.chromium) == other + [0x0A])
    }
  }

  @Test("whorl browser enable names browsers of Flatpak, and refuses a program that is not there and a missing store")
  func refusals() async throws {
    try await TestStore.with { store in
      let home = try Home(store)
      for folder in [".var", ".var/app", ".var/app/org.mozilla.firefox"] {
        mkdir("\(store.folder)/\(folder)", 0o700)
      }
      #expect(try await home.browser("enable", "--program", "/nonexistent").status == 64)
      #expect(try await home.browser("enable", "--program", "host").status == 64)
      #expect(try await home.browser("enable").status == 64, "browsers pass no options on")
      let missing = try await Invocation(
        arguments: ["browser", "enable", "--program", home.program, "--store", "/nonexistent"],
        environment: ["HOME": store.folder]
      ).run()
      #expect(missing.status != 0)
      #expect(access(home.firefox, F_OK) != 0)
      let enabled = try await home.browser("enable", "--program", home.program)
      #expect(enabled.diagnostics.contains("sandbox"), "\(enabled.diagnostics)")
    }
  }

  @Test("whorl browser list and forget say what is connected, and refuse an unknown name")
  func associations() async throws {
    try await TestStore.with { store in
      let home = try Home(store)
      let listed = try await home.browser("list")
      #expect(listed.status == 0 && listed.output.isEmpty)
      let unknown = try await home.browser("forget", "firefox")
      #expect(unknown.status != 0 && unknown.diagnostics.contains("whorl browser list"))
      try await home.browser("forget", "--all").mustSucceed()
      #expect(try await home.browser("forget").status == 64)
    }
  }

  @Test("whorl browser host answers over its pipes whatever a browser passes, and ends with them")
  func host() async throws {
    try await TestStore.with { store in
      let message = Array(#"{"action":"unheard-of","requestID":"abc"}"#.utf8)
      let frame = withUnsafeBytes(of: UInt32(message.count)) { Array($0) } + message
      for words in [["/m.json", "keepassxc-browser@keepassxc.org"], ["chrome-extension://abc/", "--parent-window=7"]] {
        let result = try await Invocation(
          arguments: store.arguments(["browser", "host", "--"] + words), input: frame + frame
        ).run()
        #expect(result.status == 0, "\(result.diagnostics)")
        let answer = Array(
          #"{"action":"unheard-of","errorCode":"12","error":"Incorrect action","requestID":"abc"}"#.utf8)
        let framed = withUnsafeBytes(of: UInt32(answer.count)) { Array($0) } + answer
        #expect(result.output == framed + framed)
      }
    }
  }
}
