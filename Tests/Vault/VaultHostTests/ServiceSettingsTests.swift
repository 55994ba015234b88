import Glibc
import Presence
import Primitives
import Processes
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultHost
import VaultStore

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

  @Test("the service's settings may be missing, and are read from a file and then a folder, in order of the names")
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

  @Test("the service's settings are refused if the folder of further files cannot be listed")
  func unlistedFolder() throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    try RunningService.write("", to: folder + "/whorld.conf.d")
    #expect {
      try ServiceSettings.read(folder + "/whorld.conf", trusting: .rootAndEffectiveUser)
    } throws: { error in
      (error as? ServiceSettingsError)?.path == folder + "/whorld.conf.d"
    }
  }

  @Test(
    "the service's settings are refused with an unknown line, and the error names the line",
    arguments: [
      "reader", "reader=what", "other=1", "reader=fprintd\n[Section]", "passcode-length = 3", "passcode-length = long",
      "passcode-length = 65", "enrol = anybody", "enrol=", "require-passcode-after-boot = maybe",
      "require-passcode-after-boot =", "tpm = yes", "tpm = swtpm:socket",
    ])
  func unknown(text: String) throws {
    #expect { _ = try read([nil: text]) } throws: {
      ($0 as? ServiceSettingsError)?.words.contains(text.contains("\n") ? "line 2" : "line 1") == true
    }
  }

  @Test("the service's settings set the passcode's length and when it is needed, and a later file wins")
  func floors() throws {
    #expect(try read([:]).shortestPasscode == 4)
    #expect(try read([:]).firstUnlock == .login)
    let settings = try read([
      nil: "passcode-length = 8\nrequire-passcode-after-boot = no", "10.conf": "passcode-length=12",
    ])
    #expect(settings.shortestPasscode == 12)
    #expect(settings.firstUnlock == .none)
    #expect(
      try read([nil: "require-passcode-after-boot = no", "1.conf": "require-passcode-after-boot=yes"]).firstUnlock
        == .passcode)
  }

  @Test("the service's settings say who may enrol a finger, and a later file wins")
  func enrollers() throws {
    #expect(try read([:]).enrollers == .users)
    #expect(try read([nil: "enrol = administrators"]).enrollers == .administrators)
    #expect(try read([nil: "enrol = administrators", "1.conf": "enrol=users"]).enrollers == .users)
  }

  @Test("the service's settings select the TPM, by default the machine's")
  func tpm() throws {
    #expect(try read([:]).tpm == .ofMachine)
    #expect(try read([nil: "tpm = no", "1.conf": "tpm = auto"]).tpm == .ofMachine)
    #expect(try read([nil: "tpm = no"]).tpm == ServiceTPM.none)
    #expect(try read([nil: "tpm = /dev/tpmrm1"]).tpm == .device("/dev/tpmrm1"))
    #expect(try read([nil: "tpm = swtpm:/run/swtpm/socket"]).tpm == .simulator(socket: "/run/swtpm/socket"))
  }

  @Test("the service's settings say when a systemd credential is used, by default without a TPM")
  func credential() throws {
    #expect(try read([:]).credential == .withoutTPM)
    #expect(try read([nil: "credential = yes"]).credential == .always)
    #expect(try read([nil: "credential = yes", "1.conf": "credential=no"]).credential == .never)
    #expect(throws: ServiceSettingsError.self) { try read([nil: "credential = maybe"]) }
  }

  @Test("the service's settings are refused if others could have written them")
  func trust() throws {
    #expect(throws: ServiceSettingsError.self) { try read(["10.conf": "reader=fprintd"], mode: 0o666) }
  }
}
