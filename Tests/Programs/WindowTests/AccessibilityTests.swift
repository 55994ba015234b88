import Glibc
import ProgramDriver
import Testing

@Suite("The window for everybody", .serialized)
struct AccessibilityTests {
  private static let pages = [
    "secrets", "passkeys", "keys", "fingers", "computers", "activity", "protection", "setup", "leave",
  ]

  /// A page of a store with an item for each kind of access.
  private func shown(
    _ page: String, width: Int, more: [String: String] = [:], fontSize: Int = 11,
    _ body: (WindowOnDisplay) async throws -> Void
  ) async throws {
    try await TestStore.enrolled { store in
      for folder in ["config", "config/gtk-4.0"] where !mkdirPrivate("\(store.folder)/\(folder)") {
        throw SystemFailure(folder)
      }
      try writeFile(
        "\(store.folder)/config/gtk-4.0/settings.ini", Array("[Settings]\ngtk-font-name=Sans \(fontSize)\n".utf8))
      let isLeaving = page == "leave"
      try await WindowOnDisplay.with(
        ["--store", store.directory, "--page", isLeaving ? "setup" : page] + store.reader, in: store.folder,
        width: width, more: more.merging(["XDG_CONFIG_HOME": "\(store.folder)/config"]) { $1 }
      ) { window in
        try await window(.see("Back"), .gone("Checking …"), .gone("Looking …"))
        if isLeaving { try await window(.press("Show how to leave Whorl"), .see("Nothing Is Turned On")) }
        try await body(window)
      }
    }
  }

  @Test(
    "With large text, each page needs no more than 360 pixels, and nothing is cut off", arguments: pages)
  func largeText(_ page: String) async throws {
    try await shown(page, width: 300, fontSize: 14) { window in
      let width = try await window.width() ?? 0
      #expect((1...360).contains(width))
      #expect(try await window.outside() == [])
    }
  }

  @Test("With text of twice the size, the page of computers needs no more than 360 pixels, and nothing is cut off")
  func twiceTheSize() async throws {
    try await shown("computers", width: 300, fontSize: 22) { window in
      let width = try await window.width() ?? 0
      #expect((1...360).contains(width))
      #expect(try await window.outside() == [])
    }
  }

  @Test(
    "From right to left, and with high contrast, each page needs no more than 360 pixels, and each control has a name",
    .enabled(
      if: access("/usr/share/locale/ar/LC_MESSAGES/gtk40.mo", F_OK) == 0, "GTK's Arabic texts are not installed"),
    arguments: pages)
  func rightToLeft(_ page: String) async throws {
    // GTK takes the direction from its own texts.
    try await shown(page, width: 300, more: ["LANGUAGE": "ar", "ADW_DEBUG_HIGH_CONTRAST": "1"]) { window in
      let width = try await window.width() ?? 0
      #expect((1...360).contains(width))
      #expect(try await window.outside() == [])
      #expect(try await window.unnamed() == [])
    }
  }

  @Test("Each control of a page gets the focus by the keyboard alone", arguments: pages)
  func keyboard(_ page: String) async throws {
    try await shown(page, width: 1_200) { window in
      let unreached = try await window.unreached()
      // The page Setup is still below that of leaving.
      let own = ["Back to Whorl", "Keep My Secrets", "Remove My Secrets"]
      #expect(page == "leave" ? own.allSatisfy { !unreached.contains($0) } : unreached == [], "\(unreached)")
    }
  }
}
