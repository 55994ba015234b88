import Fingerprint
import Glibc
import Processes
import Testing
import VaultDriver
import VaultHost

@Suite("The settings of the service")
struct ServiceSettingsTests {
  /// Reads settings from these files: the names in `whorld.conf.d`, and `nil` for `whorld.conf` itself.
  private func read(_ files: [String?: String], mode: mode_t = 0o644) throws -> ServiceSettings {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    mkdir(folder + "/whorld.conf.d", 0o755)
    for (name, text) in files {
      let path = folder + (name.map { "/whorld.conf.d/\($0)" } ?? "/whorld.conf")
      try RunningService.write(text, to: path)
      chmod(path, mode)
    }
    return try ServiceSettings.read(folder + "/whorld.conf", trusting: .rootAndEffectiveUser)
  }

  @Test("may be missing, and come from a file and then from those of a folder, in the order of their names")
  func order() throws {
    #expect(try ServiceSettings.read("/nonexistent/whorld.conf") == ServiceSettings())
    #expect(
      try read([nil: "# a note\n\n reader =  virtual-image:/a b/c \r\n"]).reader == .virtualImage(socket: "/a b/c"))
    #expect(
      try read([
        nil: "reader=fprintd", "10.conf": "reader=libfprint", "20.conf": "reader = virtual-image:/x",
        "30.conf.bak": "nonsense", ".40.conf": "nonsense",
      ]).reader == .virtualImage(socket: "/x"))
  }

  @Test(
    "are refused where a line is unknown, and the error names the line",
    arguments: ["reader", "reader=what", "other=1", "reader=fprintd\n[Section]"])
  func unknown(text: String) throws {
    #expect { _ = try read([nil: text]) } throws: {
      ($0 as? ServiceSettingsError)?.words.contains(text.contains("\n") ? "line 2" : "line 1") == true
    }
  }

  @Test("are refused where others could have written them")
  func trust() throws {
    #expect(throws: ServiceSettingsError.self) { try read(["10.conf": "reader=fprintd"], mode: 0o666) }
  }
}
