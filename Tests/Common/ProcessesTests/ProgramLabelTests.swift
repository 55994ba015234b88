import Glibc
import ProgramDriver
import Testing

@testable import Processes

@Suite("The label of a running program")
struct ProgramLabelTests {
  private static let app = "/user.slice/user-1000.slice/user@1000.service/app.slice"

  @Test(
    "the label of a program is its command and the application in the name of its unit",
    arguments: [
      ("\(app)/app-org.gnome.Console-4711.scope", "org.gnome.Console"),
      ("\(app)/app-gnome-org.gnome.Maps-12.scope", "org.gnome.Maps"),
      ("\(app)/app-flatpak-org.mozilla.firefox-815.scope", "org.mozilla.firefox"),
      ("\(app)/app-org.kde.konsole@3f2a.service", "org.kde.konsole"),
      ("\(app)/app-gnome-user\\x2ddirs@autostart.service", "user-dirs"),
      ("\(app)/app-org.gnome.Terminal.slice/vte-spawn-1f.scope", "org.gnome.Terminal"),
      ("\(app)/dbus-:1.2-org.gnome.Calculator@0.service", "org.gnome.Calculator"),
    ])
  func application(_ path: String, _ application: String) {
    #expect(ProgramLabel.text(command: "mail\n", groups: "0::\(path)\n") == "mail (\(application))")
    let older = "12:pids:/app-wrong-1.scope\n1:name=systemd:\(path)\n"
    #expect(ProgramLabel.text(command: "mail\n", groups: older) == "mail (\(application))")
  }

  @Test(
    "the label of a program is its command alone if its unit names no application",
    arguments: [
      "/user.slice/user-1000.slice/session-3.scope", "/system.slice/cron.service", "/", "\(app)/app-.scope",
      "\(app)/app-a-b-c-d-e.scope", "\(app)/snap.x.y.scope",
    ])
  func command(_ path: String) {
    #expect(ProgramLabel.text(command: "mail\n", groups: "0::\(path)\n") == "mail")
  }

  @Test("a program's label ends with the path of its file, without special characters, shortened in the middle")
  func path() {
    #expect(ProgramLabel.text("mail (org.x.Mail)", path: "/usr/bin/mail") == "mail (org.x.Mail) (/usr/bin/mail)")
    #expect(ProgramLabel.text(nil, path: "/a(b)\u{1B}\u{202E}c") == "(/abc)")
    #expect(ProgramLabel.text("mail", path: "\n") == "mail")
    let (start, end) = ("/" + String(repeating: "a", count: 47), String(repeating: "z", count: 48))
    #expect(ProgramLabel.text("mail", path: start + "-" + end) == "mail (\(start)-\(end))")
    #expect(ProgramLabel.text("mail", path: start + "--" + end) == "mail (\(start)…\(end))")
  }

  @Test("the label of a program has no control characters, bidirectional marks or markup, and a limited length")
  func hostile() {
    #expect(ProgramLabel.text(command: "\u{1B}[2Ja\u{202E}b\u{7F}<b>\n\r\t&", groups: nil) == "[2Jabb")
    #expect(ProgramLabel.text(command: "whorl (org.gn", groups: nil) == "whorl org.gn")
    #expect(ProgramLabel.text(command: "\n", groups: nil) == nil)
    #expect(ProgramLabel.text(command: nil, groups: nil) == nil)
    let name = String(repeating: "x", count: 200)
    let label = ProgramLabel.text(command: "mail", groups: "0::/app-\(name)-1.scope")
    #expect(label == "mail (\(name.prefix(64))…)")
    let escaped = "0::/app-a\\x1b\\x5b2Jb\\x3cc\\xff\\x-1.scope"
    #expect(ProgramLabel.text(command: "mail", groups: escaped) == "mail (a[2Jbcx)")
  }

  @Test("the label of a program is read for a running process, and is nil for another")
  func running() throws {
    let label = try #require(ProgramLabel.text(of: getpid()))
    let command = try #require(fopen("/proc/self/comm", "r"))
    defer { fclose(command) }
    var line = [CChar](repeating: 0, count: 64)
    _ = fgets(&line, 64, command)
    let name = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(label.hasPrefix(name))
    #expect(ProgramLabel.text(of: .max) == nil)
  }
}
