import Glibc
import Processes
import ProgramDriver
import Prompts
import SessionPrompts
import Testing
import Whorl

@Suite("The name of a program in a prompt")
struct AskerTests {
  /// A machine with programs and desktop files of its own.
  private struct Machine {
    let folder: String

    var bin: String { "\(folder)/bin" }
    var menu: String { "\(folder)/applications" }
    var flatpaks: String { "\(folder)/exports" }
    var installed: InstalledPrograms {
      InstalledPrograms(folders: [menu], flatpaks: flatpaks, trusting: .rootAndEffectiveUser)
    }

    static func with(_ body: (Machine) throws -> Void) async throws {
      try await withFolder { folder in
        let machine = Machine(folder: folder)
        for made in [machine.bin, machine.menu, machine.flatpaks] { mkdir(made, 0o755) }
        try body(machine)
      }
    }

    /// Makes a program, and returns its path.
    func program(_ name: String) throws -> String {
      let path = "\(bin)/\(name)"
      try writeFile(path, Array("a program".utf8))
      chmod(path, 0o755)
      return path
    }

    func desktopFile(_ name: String, _ lines: String..., in folder: String? = nil) throws {
      let text = (["[Desktop Entry]", "Type=Application"] + lines).joined(separator: "\n") + "\n"
      let path = "\(folder ?? menu)/\(name).desktop"
      try writeFile(path, Array(text.utf8))
      chmod(path, 0o644)
    }

    func name(of path: String?, for application: String? = nil) -> String {
      var program = ClientProgram(7, path: path, arguments: [])
      if let application { program = program.asking(for: application) }
      return program.asker(among: installed).name
    }
  }

  @Test("a prompt names a program by its desktop file, with the icon and the path, also through symbolic links")
  func desktopFile() async throws {
    try await Machine.with { machine in
      let path = try machine.program("evolution-3")
      symlink(path, "\(machine.bin)/evolution")
      try machine.desktopFile(
        "mail", "Name=Evolution", "Name[de]=Entwicklung", "Exec=\"\(machine.bin)/evolution\" --mail %U",
        "Icon=mail-icon",
        "", "[Desktop Action new]", "Name=New Message", "Exec=\(path) new")
      let asker = ClientProgram(7, path: path, arguments: ["evolution"]).asker(among: machine.installed)
      #expect(asker.name == "Evolution")
      #expect(asker.icon == "mail-icon")
      #expect(asker.details == path)
      #expect(asker.wants(to: "read “Mail”") == "Evolution wants to read “Mail”.")
    }
  }

  @Test("a prompt names a program by its file name if no desktop file matches")
  func fileName() async throws {
    try await Machine.with { machine in
      let (path, other) = (try machine.program("tool"), try machine.program("other"))
      #expect(machine.name(of: path) == "tool")
      #expect(machine.name(of: try machine.program("my tool, it")) == "“my tool, it”")
      try machine.desktopFile("1", "Name=Bank", "Exec=\(other) %U")
      try machine.desktopFile("2", "Name=Bank", "Exec=\(path) /usr/share/bank/main.script %U")
      try machine.desktopFile("3", "Name=Bank", "Exec=\(path) --load=/usr/share/bank/main.script")
      try machine.desktopFile("4", "Name=Bank", "Exec=\(path)", "Hidden=true")
      try machine.desktopFile("5", "Name=Bank", "Exec=bin/tool")
      try machine.desktopFile("6", "Name=", "Exec=\(path)")
      try machine.desktopFile("7", "Name=\u{202E}", "Exec=\(path)")
      #expect(machine.name(of: path) == "tool")
    }
  }

  @Test("a prompt names a program with several desktop files by the only one without options, or by its file name")
  func several() async throws {
    try await Machine.with { machine in
      let path = try machine.program("settings")
      try machine.desktopFile("a", "Name=Sound", "Exec=\(path) --sound")
      try machine.desktopFile("b", "Name=Printers", "Exec=\(path) --printers")
      #expect(machine.name(of: path) == "settings")
      try machine.desktopFile("c", "Name=Settings", "Exec=\(path)")
      #expect(machine.name(of: path) == "Settings")
      try machine.desktopFile("d", "Name=Bank", "Exec=\(path) %f")
      #expect(machine.name(of: path) == "settings")
    }
  }

  @Test("a prompt names a script's interpreter by its file name, whatever desktop file starts the interpreter")
  func interpreter() async throws {
    try await Machine.with { machine in
      let path = try machine.program("python3.11")
      try machine.desktopFile("python", "Name=Bank", "Exec=\(path)")
      let asker = ClientProgram(7, path: path, arguments: ["python3", "./mail.py"]).asker(among: machine.installed)
      #expect(asker.name == "python3.11")
      #expect(asker.details == "\(path), which says that it runs “./mail.py”")
    }
  }

  @Test("a prompt ignores a desktop file that others can write, and says if a program is not the system's")
  func others() async throws {
    try await Machine.with { machine in
      let path = try machine.program("tool")
      try machine.desktopFile("tool", "Name=Bank", "Exec=\(path)")
      chmod("\(machine.menu)/tool.desktop", 0o666)
      #expect(machine.name(of: path) == "tool")
      chmod("\(machine.menu)/tool.desktop", 0o644)
      chmod(machine.menu, 0o777)
      #expect(machine.name(of: path) == "tool")
      chmod(machine.menu, 0o755)
      #expect(machine.name(of: path) == "Bank")
      chmod(machine.bin, 0o777)
      #expect(machine.name(of: path) == "tool (not installed by the system)")
    }
  }

  @Test("a prompt of a program that hides its file says for which program and from where it asks, as a claim")
  func hidden() async throws {
    try await Machine.with { machine in
      let login = RemoteLogin(from: "203.0.113.7")
      let gpg = ClientProgram(8, path: "/usr/bin/gpg", arguments: ["gpg"], remoteLogin: login)
      let asker = ClientProgram(7, path: nil, arguments: []).asker(for: gpg, among: machine.installed)
      #expect(asker.name == "a program that cannot be identified (in a login over the network from 203.0.113.7)")
      #expect(
        asker.details == "/usr/bin/gpg in a login over the network from 203.0.113.7, says process 7, unverified")
      let local = ClientProgram(7, path: nil, arguments: []).asker(
        for: ClientProgram(8, path: "/usr/bin/gpg", arguments: ["gpg"]), among: machine.installed)
      #expect(local.name == "a program that cannot be identified")
      #expect(local.details == "/usr/bin/gpg, says process 7, unverified")
      // One that does not hide is named itself.
      let path = try machine.program("tool")
      let known = ClientProgram(7, path: path, arguments: []).asker(for: gpg, among: machine.installed)
      #expect(known.name == "tool")
      #expect(known.details == path)
    }
  }

  @Test("a prompt names a sandboxed program by the desktop file that Flatpak exports, if an installed portal asks")
  func flatpak() async throws {
    try await Machine.with { machine in
      let portal = try machine.program("xdg-desktop-portal")
      try machine.desktopFile("org.example.Mail", "Name=Example Mail", in: machine.flatpaks)
      #expect(machine.name(of: portal, for: "org.example.Mail") == "Example Mail")
      #expect(machine.name(of: portal, for: "org.example.Other") == "org.example.Other")
      try machine.desktopFile("secret", "Name=Bank")
      #expect(machine.name(of: portal, for: "../applications/secret") == "../applications/secret")
      chmod(machine.bin, 0o777)
      #expect(machine.name(of: portal, for: "org.example.Mail") == "a program that cannot be identified")
    }
  }

  @Test("a prompt names no program whose file is not known, and shows where a network login comes from")
  func unknown() async throws {
    try await Machine.with { machine in
      #expect(machine.name(of: nil) == "a program that cannot be identified")
      let path = try machine.program("ssh")
      let far = ClientProgram(7, path: path, arguments: [], remoteLogin: RemoteLogin(from: "192.0.2.7"))
      #expect(
        far.asker(among: machine.installed).wants(to: "sign in")
          == "ssh (in a login over the network from 192.0.2.7) wants to sign in.")
    }
  }

  @Test("a prompt ignores the person's own desktop files, wherever the environment says that they are")
  func personal() async throws {
    try await PrivateBus.with { bus in
      let desktop = try await DesktopStandIn(on: bus)
      defer { desktop.close() }
      try await TestStore.enrolled { store in
        let key = try await store.addKey("work")
        let folders = [
          "\(store.folder)/.local", "\(store.folder)/.local/share", "\(store.folder)/.local/share/applications",
        ]
        for folder in folders { mkdir(folder, 0o755) }
        try writeFile(
          "\(folders[2])/ssh.desktop",
          Array("[Desktop Entry]\nType=Application\nName=Bank\nExec=/usr/bin/ssh-keygen\n".utf8))
        let environment = [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder, "XDG_DATA_HOME": folders[1],
          "XDG_DATA_DIRS": folders[1],
        ]
        try await RunningAgent.with(store, [.right], environment: environment) { agent in
          try await agent.sign(key).mustSucceed()
          #expect(try await desktop.first().text.hasPrefix("ssh-keygen wants to sign a file "))
        }
      }
    }
  }
}
