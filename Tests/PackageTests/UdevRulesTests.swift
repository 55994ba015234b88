import Foundation
import Testing

@Suite("The udev rule for readers")
struct UdevRulesTests {
  static let name = "70-whorl-reader.rules"

  @Test("the udev rule gives access to exactly the readers that the installed libfprint supports")
  func matchesInstalledList() async throws {
    let generated = try await run("udev/generate")
    #expect(generated.status == 0, "\(generated.errors)")
    let list = try #require(try installedList())
    let parts = list.components(separatedBy: "# Known unsupported devices")
    let supported = identifiers(in: parts[0])
    let unsupported = identifiers(in: parts.dropFirst().joined())
    let opened = openedReaders(generated.output)
    #expect(supported.count > 100 && !unsupported.isEmpty)
    #expect(opened == supported)
    #expect(opened.isDisjoint(with: unsupported))
  }

  @Test("the udev rule for the service gives the same readers to its unit, and takes them from the user")
  func service() async throws {
    let lines = try await run("udev/generate", "--service").output.split(separator: "\n")
    let given = lines.compactMap { line in
      line.wholeMatch(
        of:
          /ATTR\{idVendor\}=="(.{4})", ATTR\{idProduct\}=="(.{4})", GROUP="whorl-reader", MODE="0660", TAG-="uaccess"/)
    }
    let readers = openedReaders(try await run("udev/generate").output)
    #expect(Set(given.map { "\($0.1):\($0.2)" }) == readers)
    #expect(!lines.contains { $0.contains("TAG+") })
    try await withTemporaryFolder { folder in
      let installed = try await run(
        "make", "install-udev", environment: ["DESTDIR": folder.path, "SYSTEM": "1"])
      #expect(installed.status == 0, "\(installed.errors)")
      let rule = try String(
        contentsOf: folder.appending(path: "etc/udev/rules.d/\(Self.name)"), encoding: .utf8)
      #expect(rule.contains("TAG-=") && !rule.contains("TAG+="))
    }
  }

  @Test("the udev rule contains only the expected kinds of lines")
  func hasPlainForm() async throws {
    let lines = try await run("udev/generate").output.split(separator: "\n")
    for line in lines {
      let isKnown =
        line.hasPrefix("#")
        || line.wholeMatch(of: /ATTR\{idVendor\}=="[0-9a-f]{4}", ATTR\{idProduct\}=="[0-9a-f]{4}", TAG\+="uaccess"/)
          != nil
        || line.wholeMatch(
          of: /(?:ACTION=="remove"|SUBSYSTEM!="usb"|ENV\{DEVTYPE\}!="usb_device"), GOTO="whorl_reader_end"/)
          != nil
        || line == #"LABEL="whorl_reader_end""#
      #expect(isKnown, "\(line)")
    }
    #expect(lines.last == #"LABEL="whorl_reader_end""#)
    #expect(lines.filter { $0.contains("GOTO=") }.count == 3)
  }

  @Test("the udev rule passes udevadm verify", .enabled("this udev has no verify") { await udevCanVerify() })
  func passesUdevVerify() async throws {
    try await withTemporaryFolder { folder in
      let rules = folder.appending(path: Self.name)
      try await run("udev/generate").output.write(to: rules, atomically: true, encoding: .utf8)
      let verified = try await run("udevadm", "verify", rules.path)
      #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    }
  }

  @Test("the udev rule sorts before the rule that acts on its tag, and after those that set a device's properties")
  func sortsBeforeItsTagIsActedOn() throws {
    #expect(try Repository.text("Makefile").contains("UDEV_RULES = \(Self.name)"))
    #expect(Self.name < "73-seat-late.rules" && Self.name > "50-udev-default.rules")
  }

  @Test("the udev rule copies only device numbers and plain driver names from libfprint's list")
  func hostileList() async throws {
    let generated = try await generate(
      from: """
        # Supported by libfprint driver good", RUN+="/bin/evil
        usb:v1234pABCD*
        usb:v1234p", RUN+="/bin/evil
        usb:v12p34*
         ID_AUTOSUSPEND=1

        # Something nobody has heard of
        usb:vDEADpBEEF*

        # Known unsupported devices
        usb:v5678p0001*
        """)
    #expect(generated.status == 0)
    #expect(openedReaders(generated.output) == ["1234:abcd"])
    #expect(!generated.output.contains("RUN+"))
    #expect(generated.errors.split(separator: "\n").count == 2, "each line left out is said: \(generated.errors)")
  }

  @Test(
    "the udev rule is not generated from a list without a supported reader",
    arguments: ["", "# Known unsupported devices\nusb:v5678p0001*\n"])
  func emptyList(list: String) async throws {
    let generated = try await generate(from: list)
    #expect(generated.status != 0)
    #expect(generated.output.isEmpty)
  }

  @Test("the udev rule is installed by make install-udev and removed by make uninstall-udev")
  func installsAndUninstalls() async throws {
    try await withTemporaryFolder { folder in
      let rule = folder.appending(path: "etc/udev/rules.d/\(Self.name)")
      let installed = try await run("make", "install-udev", environment: ["DESTDIR": folder.path])
      #expect(installed.status == 0, "\(installed.errors)")
      let generated = try await run("udev/generate").output
      #expect(try String(contentsOf: rule, encoding: .utf8) == generated)
      #expect(installed.output.contains("every program of that user"), "its price is said")
      let removed = try await run("make", "uninstall-udev", environment: ["DESTDIR": folder.path])
      #expect(removed.status == 0)
      #expect(!FileManager.default.fileExists(atPath: rule.path))
    }
  }

  private func generate(from list: String) async throws -> Finished {
    try await withTemporaryFolder { folder in
      let file = folder.appending(path: "list.hwdb")
      try list.write(to: file, atomically: true, encoding: .utf8)
      return try await run("udev/generate", file.path)
    }
  }

  /// Looks in the known places, without the generator's own search.
  private func installedList() throws -> String? {
    let names = ["60-autosuspend-libfprint-2.hwdb", "60-autosuspend-fingerprint-reader.hwdb"]
    for name in names {
      for folder in ["/usr/lib/udev/hwdb.d", "/lib/udev/hwdb.d"]
      where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
        return try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      }
    }
    return nil
  }

  private func identifiers(in list: String) -> Set<String> {
    Set(list.matches(of: /(?m)^usb:v([0-9A-F]{4})p([0-9A-F]{4})/).map { "\($0.1):\($0.2)".lowercased() })
  }

  private func openedReaders(_ rules: String) -> Set<String> {
    Set(
      rules.matches(of: /ATTR\{idVendor\}=="(.{4})", ATTR\{idProduct\}=="(.{4})", TAG\+="uaccess"/)
        .map { "\($0.1):\($0.2)" })
  }
}

private func udevCanVerify() async -> Bool {
  guard let help = try? await run("udevadm", "--help") else { return false }
  return help.output.contains("verify")
}
