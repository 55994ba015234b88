import Fingerprint
import Foundation
import ProgramDriver
import Testing
import VirtualFinger

@Suite("The window")
struct WindowTests {
  private static let passcode = "quartz blanket river 47"

  private func first<Value>(_ body: (WindowOnDisplay, TestStore) async throws -> Value) async throws -> Value {
    try await withFolder { folder in
      let store = TestStore(folder: folder, recoveryKey: "")
      return try await WindowOnDisplay.with(
        ["--store", store.directory] + store.reader, in: folder
      ) { try await body($0, store) }
    }
  }

  private func exists(_ store: TestStore) -> Bool {
    FileManager.default.fileExists(atPath: "\(store.directory)/vault.db")
  }

  @Test("A first start in the window makes a store with its passcode, and the recovery key that was shown opens it")
  func firstStart() async throws {
    try await first { window, store in
      try await window("press", "push button", "Set Up")
      try await window("type", "Passcode", Self.passcode)
      try await window("type", "Once more", Self.passcode)
      try await window("press", "push button", "Continue")
      try await window("wait", "label", "Its last part, from your paper")
      var key: String?
      for _ in 0..<100 where key == nil {
        key = try await window.texts().map { $0[1] }.first { $0.wholeMatch(of: /([0-9A-Z]{5}-){6}[0-9A-Z]{5}/) != nil }
        if key == nil { try await Task.sleep(for: .milliseconds(200)) }
      }
      let shown = try #require(key)
      #expect(!exists(store), "the store is kept before its recovery key was written down")
      try await window("type", "Its last part, from your paper", String(shown.suffix(5)).lowercased())
      try await window("press", "push button", "Continue")
      try await window("press", "push button", "Show My Secrets")
      try await Invocation(
        arguments: store.arguments(["recover", "--recovery-fd", "3", "--passcode-fd", "4"]),
        descriptors: [shown + "\n", "another long passcode 9\n"]
      ).run().mustSucceed()
    }
  }

  @Test("Two passcodes that differ, and one that can be guessed, make no store and say why")
  func refusedPasscodes() async throws {
    try await first { window, store in
      try await window("press", "push button", "Set Up")
      try await window("type", "Passcode", "abcd")
      try await window("type", "Once more", "abce")
      try await window("wait", "label", "The two are not the same.")
      try await window("type", "Once more", "abcd")
      try await window("press", "push button", "Continue")
      try await window(
        "wait", "label", "Somebody with a copy of your disk finds this passcode within a day. Take a longer one.")
      #expect(!exists(store))
    }
  }

  @Test("A secret is shown after the passcode, not after a wrong one, and can be hidden")
  func shown() async throws {
    try await TestStore.with { store in
      try await store.set("mail/alice", "a secret of mine", "--access", "presence")
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window("click", "mail/alice")
        try await window("press", "push button", "Show")
        try await window("type", "Passcode", "wrong")
        try await window("press", "push button", "Confirm")
        try await window("wait", "label", "Wrong passcode. Passcode to show “mail/alice”")
        #expect(try await !window.texts().contains { $0[1] == "a secret of mine" })
        try await window("type", "Passcode", TestStore.passcode)
        try await window("press", "push button", "Confirm")
        try await window("wait", "label", "a secret of mine")
        try await window("press", "push button", "Show")
        try await window("gone", "label", "a secret of mine")
      }
    }
  }

  @Test("A cancelled prompt shows nothing, and the next one asks again")
  func cancelled() async throws {
    try await TestStore.with { store in
      try await store.set("mail", "a secret of mine", "--access", "passcode")
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window("click", "mail")
        for _ in 0..<2 {
          try await window("press", "push button", "Show")
          try await window("press", "push button", "Cancel")
          try await window("gone", "push button", "Confirm")
        }
        #expect(try await !window.texts().contains { $0[1] == "a secret of mine" })
      }
    }
  }

  @Test("A new secret of the window is the one that the command line gets")
  func added() async throws {
    try await TestStore.with { store in
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window("press", "push button", "New Secret")
        try await window("type", "Name, such as a site or a program", "mail")
        try await window("type", "Account (may be empty)", "alice")
        try await window("type", "Secret", "correct battery")
        try await window("press", "push button", "Save")
        try await window("wait", "label", "mail/alice")
        #expect(try await store.unlocked("get", "mail/alice").text == "correct battery")
      }
    }
  }

  @Test("A removed secret comes back with Undo, and is gone for good when the window closes")
  func removed() async throws {
    try await TestStore.with { store in
      try await store.set("mail", "x", "--access", "none")
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window("click", "mail")
        try await window("press", "push button", "Remove")
        try await window("press", "push button", "Undo")
        try await window("click", "mail")
        #expect(try await store.whorl("get", "mail").status == 0)
        try await window("press", "push button", "Remove")
        try await window("press", "push button", "Close")
        for _ in 0..<600 where window.program.isRunning { try await Task.sleep(for: .milliseconds(50)) }
      }
      #expect(try await store.whorl("get", "mail").status == 66)
    }
  }

  @Test("No control of the window lacks a name for a screen reader")
  func named() async throws {
    try await TestStore.with { store in
      try await store.set("mail", "x", "--access", "none")
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window("click", "mail")
        try await window("press", "push button", "New Secret")
        #expect(try await window.unnamed() == [])
      }
    }
  }

  @Test("A store that cannot be opened is explained, and tried again on request")
  func problem() async throws {
    try await TestStore.with { store in
      try await store.set("mail", "x", "--access", "none")
      chmod(store.directory, 0o777)
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window("wait", "", "Try Again")
        chmod(store.directory, 0o700)
        try await window("press", "push button", "Try Again")
        try await window("wait", "label", "mail")
      }
    }
  }
}
