import Glibc
import Processes
import SecretModel
import Testing
import VaultDriver
import Whorl

@Suite("Finding the service")
struct InstalledServiceTests {
  @Test("a store that is named by no directory is the installed service's, whatever the configuration says")
  func place() async throws {
    let service = try RunningService()
    var configuration = Configuration()
    configuration.store = "/elsewhere"
    configuration.vaultProgram = "/elsewhere/whorld"
    #expect(try StorePlace(directory: nil, reader: nil, configuration, service: service.installed) == .own)
    #expect(
      try StorePlace(directory: "/named", reader: nil, configuration, service: service.installed)
        == StorePlace(directory: "/named"))
    #expect(throws: VaultError.self) {
      _ = try StorePlace(directory: nil, reader: .automatic, configuration, service: service.installed)
    }
    let none = InstalledService(
      marker: service.folder + "/nothing", folder: service.folder, trust: .rootAndEffectiveUser)
    #expect(
      try StorePlace(directory: nil, reader: nil, configuration, service: none) == StorePlace(directory: "/elsewhere"))
    let connection = try await VaultConnector.connect(to: .own, configuration, service: service.installed)
    await #expect(throws: VaultError.self) { _ = try await connection.open(.own) }
    try await service.makeStore()
    #expect(try await connection.status().passcodeSet)
    await connection.close()
    try await service.end()
  }

  @Test("a service's marker or socket that others could have made is refused, and no private store is used instead")
  func untrusted() throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    try RunningService.write("", to: folder + "/system")
    let service = InstalledService(marker: folder + "/system", folder: folder, trust: .rootAndEffectiveUser)
    #expect(try service.isInstalled)
    chmod(folder, 0o777)
    #expect(throws: VaultError.self) { try service.isInstalled }
    #expect(throws: VaultError.self) {
      _ = try StorePlace(directory: nil, reader: nil, Configuration(), service: service)
    }
    let listener = try RunningService.listen(at: folder + "/bus")
    defer { close(listener) }
    #expect(throws: VaultError.self) { _ = try service.connect() }
    chmod(folder, 0o700)
    _ = try service.connect()
  }

  @Test(
    "an installed service's files have to be root's", .enabled(if: geteuid() == 0, "only root gives files away"))
  func owners() throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    chmod(folder, 0o755)
    try RunningService.write("", to: folder + "/system")
    let service = InstalledService(marker: folder + "/system", folder: folder, trust: .rootAlone)
    #expect(try service.isInstalled)
    chown(folder + "/system", 65_534, 0)
    #expect(throws: VaultError.self) { try service.isInstalled }
    chown(folder + "/system", 0, 0)
    chmod(folder + "/system", 0o664)
    #expect(throws: VaultError.self) { try service.isInstalled }
    chmod(folder + "/system", 0o644)
    chown(folder, 65_534, 0)
    #expect(throws: VaultError.self) { try service.isInstalled }
  }

  @Test("an installed service that does not listen or answer is reported as such")
  func silent() async throws {
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    let service = InstalledService(marker: folder + "/system", folder: folder, trust: .rootAndEffectiveUser)
    #expect { _ = try service.connect() } throws: {
      $0 as? VaultError == .serviceStopped("\(folder)/bus: No such file or directory")
    }
    let listener = try RunningService.listen(at: folder + "/bus")
    let connection = try service.connect()
    close(listener)
    await #expect { _ = try await connection.open(.own) } throws: {
      guard case .serviceUnavailable(let why) = $0 as? VaultError else { return false }
      return why.contains("systemctl status whorld")
    }
    await connection.close()
  }
}
