import Foundation
import Testing

/// `scripts/translations.py` on a copy of what it reads.
@Suite("The translations")
struct TranslationScriptTests {
  private static let script = "scripts/translations.py"

  /// The check of a copy of the sources and translations, after a file was changed.
  private func check(_ file: String, _ change: (String) throws -> String) async throws -> Finished {
    try await withTemporaryFolder { folder in
      for place in ["Sources", "data", "po", "scripts"] {
        try FileManager.default.copyItem(at: Repository.root.appending(path: place), to: folder.appending(path: place))
      }
      let changed = folder.appending(path: file)
      try change(String(contentsOf: changed, encoding: .utf8)).write(to: changed, atomically: true, encoding: .utf8)
      return try await run("python3", folder.appending(path: Self.script).path, "check")
    }
  }

  @Test("the template is up to date, and every translation is valid and complete")
  func complete() async throws {
    let checked = try await run("python3", Self.script, "check")
    #expect(checked.status == 0, "\(checked.errors)")
  }

  @Test("a sentence that was added to the sources has to be in the template")
  func added() async throws {
    let checked = try await check("Sources/Programs/whorl-gtk/Pages/PageName.swift") {
      $0 + "\nprivate let added = \"\\(Text.of(\"Quite a \\\"new\\\" sentence\"))\"\n"
    }
    #expect(checked.status != 0 && checked.errors.contains("not up to date"), "\(checked.errors)")
  }

  @Test("a sentence that is no whole literal is refused", arguments: ["name", "\"a \\(name)\"", "\"\"\"\na\n\"\"\""])
  func noLiteral(_ argument: String) async throws {
    let checked = try await check("Sources/Programs/whorl-gtk/Pages/PageName.swift") {
      $0 + "\nprivate let added = Text.of(\(argument))\n"
    }
    #expect(checked.status != 0 && checked.errors.contains("PageName.swift:"), "\(checked.errors)")
  }

  @Test(
    "a translation with another place, another command or nothing is refused",
    arguments: [
      ("benötigt: {rule}", "benötigt: {regel}", "regel"), ("benötigt: {rule}", "", "needs {rule}"),
      ("'whorl sync now' sagt", "'whorl sync jetzt' sagt", "whorl sync now"),
    ])
  func wrong(_ before: String, _ after: String, _ told: String) async throws {
    let checked = try await check("po/de.po") { text in
      #expect(text.contains(before))
      return text.replacing(before, with: after)
    }
    #expect(checked.status != 0 && checked.errors.contains(told), "\(checked.errors)")
  }

  @Test("a translation says whether a native speaker has reviewed it")
  func reviewed() async throws {
    let checked = try await check("po/pl.po") { $0.replacing("# Not reviewed by a native speaker.\n", with: "") }
    #expect(checked.status != 0 && checked.errors.contains("native speaker"), "\(checked.errors)")
  }

  @Test("the catalogues, the menu's entry and polkit's actions are installed in every language")
  func installed() async throws {
    try await withTemporaryFolder { folder in
      let compiled = try await run("python3", Self.script, "compile", folder.path)
      #expect(compiled.status == 0, "\(compiled.errors)")
      let languages = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      #expect(languages == ["de", "es", "fr", "it", "ja", "pl", "pt_BR", "zh_CN"])
      for file in [
        "data/polkit/org.whorl.policy", "data/window/org.whorl.Whorl.desktop",
        "data/window/org.whorl.Whorl.krunner.desktop",
      ] {
        let merged = folder.appending(path: "merged").path
        let done = try await run("python3", Self.script, "merge", file, merged)
        #expect(done.status == 0, "\(done.errors)")
        let text = try String(contentsOfFile: merged, encoding: .utf8)
        #expect(languages.allSatisfy { text.contains("lang=\"\($0)\"") || text.contains("[\($0)]=") }, "\(file)")
      }
    }
  }
}
