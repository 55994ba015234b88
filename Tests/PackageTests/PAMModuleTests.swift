import Foundation
import Testing

@Suite("The PAM module")
struct PAMModuleTests {
  @Test("the PAM module keeps no password that is longer than the memory page for it, as a login may pass one")
  func longPassword() async throws {
    try await withTemporaryFolder { folder in
      let program = folder.appending(path: "kept-password").path
      // As scripts/build-pam-module chooses the compiler.
      let script = #"cc=${CC:-cc}; command -v "$cc" >/dev/null 2>&1 || cc=clang; exec "$cc" "$@""#
      let built = try await run(
        "sh", "-c", script, "sh", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
        "Tests/Login/kept-password.c", "Sources/Login/pam_whorl/password.c")
      #expect(built.status == 0, "\(built.errors)")
      let ran = try await run(program)
      #expect(ran.status == 0, "\(ran.errors)")
    }
  }

  @Test("the PAM module takes the system's language from a file, and changes no locale of the program or its threads")
  func language() async throws {
    try await withTemporaryFolder { folder in
      let catalogue = folder.appending(path: "locale/zz/LC_MESSAGES")
      try FileManager.default.createDirectory(at: catalogue, withIntermediateDirectories: true)
      let sentence = "Waiting for the fingerprint reader."
      let po = """
        msgid ""
        msgstr "Content-Type: text/plain; charset=UTF-8\\n"
        msgid "\(sentence)"
        msgstr "Ŵaiting"

        """
      try Data(po.utf8).write(to: folder.appending(path: "zz.po"))
      let compiled = try await run(
        "msgfmt", "--output-file=\(catalogue.path)/whorl.mo", folder.appending(path: "zz.po").path)
      #expect(compiled.status == 0, "\(compiled.errors)")
      let program = folder.appending(path: "language").path
      let script = #"cc=${CC:-cc}; command -v "$cc" >/dev/null 2>&1 || cc=clang; exec "$cc" "$@""#
      let built = try await run(
        "sh", "-c", script, "sh", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror",
        "-DWHORL_LOCALES=\"\(folder.path)/locale\"", "-o", program, "Tests/Login/language.c")
      #expect(built.status == 0, "\(built.errors)")
      let ran = try await run(
        "env", "LANGUAGE=zz", program, folder.appending(path: "locale.conf").path, sentence, "Ŵaiting")
      #expect(ran.status == 0 && ran.output == "done\n", "\(ran.errors)")
    }
  }

  /// A folder with PAM files: each has the text of its path.
  private func withFiles(_ files: [String: String], _ body: (URL) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      for (path, text) in files {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
      try await body(folder)
    }
  }

  private func fingerLogin(_ change: String, _ place: String, _ folder: URL) async throws -> Int32 {
    try await run("scripts/finger-login", change, place, folder.path).status
  }

  private func text(_ path: String, in folder: URL) -> String? {
    try? String(contentsOf: folder.appending(path: path), encoding: .utf8)
  }

  @Test("a finger at polkit's dialogs is turned on in a copy of the system's PAM file, and turned off without a trace")
  func fingerAtPolkit() async throws {
    let files = [
      "usr/lib/pam.d/polkit-1": "#%PAM-1.0\n\n@include common-auth\n",
      "etc/pam.d/common-auth": "auth [success=1 default=ignore] pam_unix.so nullok\n",
    ]
    try await withFiles(files) { (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "polkit", folder) == 0)
      let copy = try #require(text("etc/pam.d/polkit-1", in: folder))
      #expect(copy.hasPrefix("#%PAM-1.0\n# Written by"))
      #expect(copy.hasSuffix("-auth sufficient pam_whorl.so verify services=polkit-1\n\n@include common-auth\n"))
      #expect(try await fingerLogin("enable", "polkit", folder) == 0)
      #expect(text("etc/pam.d/polkit-1", in: folder) == copy, "twice is once")
      #expect(try await fingerLogin("disable", "polkit", folder) == 0)
      #expect(text("etc/pam.d/polkit-1", in: folder) == nil)
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/etc/pam.d") == ["common-auth"])
      // What an administrator has changed in the copy stays.
      #expect(try await fingerLogin("enable", "polkit", folder) == 0)
      let changed = try #require(text("etc/pam.d/polkit-1", in: folder)) + "session optional pam_echo.so\n"
      try Data(changed.utf8).write(to: folder.appending(path: "etc/pam.d/polkit-1"))
      #expect(try await fingerLogin("disable", "polkit", folder) == 0)
      let left = text("etc/pam.d/polkit-1", in: folder)
      #expect(left == "#%PAM-1.0\n\n@include common-auth\nsession optional pam_echo.so\n")
    }
  }

  @Test("a finger at sudo is turned on and off, and the PAM file is then as it was before")
  func fingerAtSudo() async throws {
    let before = "session required pam_limits.so\n# A comment.\n@include common-auth"
    try await withFiles(["etc/pam.d/sudo": before, "etc/pam.d/common-auth": "auth required pam_unix.so\n"]) {
      (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "sudo", folder) == 0)
      #expect(
        text("etc/pam.d/sudo", in: folder)?.contains("\n-auth sufficient pam_whorl.so verify services=sudo\n") == true)
      #expect(try await fingerLogin("disable", "sudo", folder) == 0)
      #expect(text("etc/pam.d/sudo", in: folder) == before + "\n")
    }
  }

  @Test(
    "a finger is not turned on where the PAM stack would ask for no password, or has a line by hand",
    arguments: [
      "auth required pam_deny.so\n", "auth sufficient pam_whorl.so verify services=sudo\nauth required pam_unix.so\n",
    ])
  func refused(_ stack: String) async throws {
    try await withFiles(["etc/pam.d/sudo": stack]) { (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "sudo", folder) != 0)
      #expect(text("etc/pam.d/sudo", in: folder) == stack)
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/etc/pam.d") == ["sudo"])
    }
  }
}
