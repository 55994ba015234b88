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

  /// The files of Plasma 6 in Debian 13, shortened, and of swaylock.
  private static let screens = [
    "usr/lib/pam.d/kde": "auth requisite pam_nologin.so\n@include common-auth\n",
    "usr/lib/pam.d/kde-fingerprint": """
    #%PAM-1.0
    auth    requisite       pam_nologin.so
    auth\trequired\tpam_fprintd.so
    auth    optional        pam_kwallet5.so
    password required       pam_fprintd.so

    """,
    "etc/pam.d/swaylock": "# A comment.\n\nauth include login\n",
    "etc/pam.d/login": "@include common-auth\n",
    "etc/pam.d/common-auth": "auth [success=1 default=ignore] pam_unix.so nullok\n",
  ]

  @Test("a finger at lock screens is turned on before passwords or in place of fprintd's line, and off without a trace")
  func fingerAtScreen() async throws {
    try await withFiles(Self.screens) { (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "screen", folder) == 0)
      let plasma = try #require(text("etc/pam.d/kde-fingerprint", in: folder))
      let lines = plasma.split(separator: "\n")
      #expect(lines.contains("auth [success=ok default=bad] pam_whorl.so verify serial services=kde-fingerprint"))
      #expect(lines.contains("# Replaced by Whorl: auth\trequired\tpam_fprintd.so"))
      #expect(lines.last == "password required       pam_fprintd.so")
      #expect(
        text("etc/pam.d/swaylock", in: folder)?
          .hasSuffix("-auth sufficient pam_whorl.so verify services=swaylock\n\nauth include login\n") == true)
      #expect(text("etc/pam.d/kde", in: folder) == nil, "Plasma asks for the password in a stack of its own")
      #expect(try await fingerLogin("enable", "screen", folder) == 0)
      #expect(text("etc/pam.d/kde-fingerprint", in: folder) == plasma, "twice is once")
      #expect(try await fingerLogin("disable", "screen", folder) == 0)
      for (path, before) in Self.screens { #expect(text(path, in: folder) == before, "\(path)") }
      let left = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/etc/pam.d")
      #expect(left.sorted() == ["common-auth", "login", "swaylock"])
      // What an administrator has changed in the copy stays.
      #expect(try await fingerLogin("enable", "screen", folder) == 0)
      try Data((plasma + "session optional pam_echo.so\n").utf8)
        .write(to: folder.appending(path: "etc/pam.d/kde-fingerprint"))
      #expect(try await fingerLogin("disable", "screen", folder) == 0)
      let kept = try #require(Self.screens["usr/lib/pam.d/kde-fingerprint"]) + "session optional pam_echo.so\n"
      #expect(text("etc/pam.d/kde-fingerprint", in: folder) == kept)
    }
  }

  @Test("a finger at the lock screen of Plasma 5 is turned on in a copy of the file for other programs, and off again")
  func fingerAtPlasma5() async throws {
    let files = [
      "usr/lib/x86_64-linux-gnu/libexec/kscreenlocker_greet": "",
      "etc/pam.d/other": "@include common-auth\n", "etc/pam.d/common-auth": "auth required pam_unix.so\n",
    ]
    try await withFiles(files) { (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "screen", folder) == 0)
      #expect(
        text("etc/pam.d/kde", in: folder)?
          .hasSuffix("-auth sufficient pam_whorl.so verify services=kde\n@include common-auth\n") == true)
      #expect(text("etc/pam.d/other", in: folder) == files["etc/pam.d/other"])
      #expect(try await fingerLogin("disable", "screen", folder) == 0)
      #expect(text("etc/pam.d/kde", in: folder) == nil)
    }
  }

  @Test(
    "a finger is turned on at no lock screen where one of them would ask for no password, or there is none",
    arguments: [
      ["usr/lib/pam.d/kde": "auth required pam_deny.so\n"],
      ["usr/lib/pam.d/kde-fingerprint": "auth required pam_u2f.so\n"],
      ["etc/pam.d/swaylock": "auth required pam_permit.so\n"],
    ])
  func refusedAtScreen(_ changes: [String: String]) async throws {
    let files = Self.screens.merging(changes) { $1 }
    try await withFiles(files) { (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "screen", folder) != 0)
      for (path, before) in files { #expect(text(path, in: folder) == before, "\(path)") }
      #expect(text("etc/pam.d/kde-fingerprint", in: folder) == nil)
    }
    try await withFiles(["etc/pam.d/sudo": "auth required pam_unix.so\n"]) { (folder: URL) async throws in
      #expect(try await fingerLogin("enable", "screen", folder) != 0)
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
