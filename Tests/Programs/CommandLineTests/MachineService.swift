import Glibc
import Keys
import Presence
import Primitives
import Processes
import ProgramDriver
import SecretModel
import VaultBus
import VaultHost

/// A machine whose system service runs in this process, for commands that look at the fixed places of the service: they
/// run in a mount namespace of their own, as root, with other folders there. Root has a store without items.
final class MachineService: Sendable {
  private let folder: String
  private let vaults: SystemVaults
  private let listener: VaultBusListener

  /// Whether the tests may make such a namespace.
  static let isPossible: Bool = {
    let result = getuid() == 0 && system("unshare --mount /bin/true 2>/dev/null") == 0
    if !result { print("command line: tests with the service of a machine are skipped: they need root, and mounts") }
    return result
  }()

  /// What the machine's own `/etc` must have.
  private static let kept = ["passwd", "group", "nsswitch.conf", "ld.so.cache", "alternatives", "localtime", "ssl"]

  static func with<Value>(_ body: (MachineService) async throws -> Value) async throws -> Value {
    try await withFolder { folder in
      let machine = try MachineService(in: folder)
      let made = try await Invocation(
        program: "/usr/bin/unshare",
        arguments: try machine.words(["init", "--passcode-fd", "3", "--recovery-fd", "9"]),
        descriptors: [TestStore.passcode + "\n"], readsDescriptor9: true, environment: machine.environment
      ).run()
      let result: Result<Value, any Error>
      do {
        try made.mustSucceed()
        result = .success(try await body(machine))
      } catch {
        result = .failure(error)
      }
      await machine.listener.close()
      await machine.vaults.close()
      return try result.get()
    }
  }

  private init(in folder: String) throws {
    self.folder = folder
    // Root's alone, as the service's places are.
    chmod(folder, 0o755)
    for each in ["etc", "etc/whorl", "run", "run/whorl", "lib", "lib/whorl"] { mkdir("\(folder)/\(each)", 0o755) }
    try writeFile("\(folder)/etc/whorl/system", [])
    for each in Self.kept where access("/etc/\(each)", F_OK) == 0 {
      _ = system("cp -a /etc/\(each) '\(folder)/etc/'")
    }
    var configuration = SystemVaultsConfiguration(
      folder: "\(folder)/lib/whorl", reader: .child(.virtualImage(socket: "\(folder)/sensor")),
      accountName: { Account.name(of: $0) }, authorizeOwner: { _, _ throws(VaultError) in },
      authorizeFingers: { _ throws(VaultError) in }, authorizeTest: { _ throws(VaultError) in })
    configuration.authorizeEnrolment = { _ throws(VaultError) in }
    configuration.floor = .weakForTests
    // Not the machine's.
    configuration.journal = { _, _ in }
    let vaults = SystemVaults(configuration)
    self.vaults = vaults
    listener = try VaultBusListener(socket: try Self.listen(at: "\(folder)/run/whorl/bus")) {
      vaults.connection(for: $0)
    }
  }

  private static func listen(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard descriptor >= 0, isBound, Glibc.listen(descriptor, 64) == 0 else { throw SystemFailure(path) }
    return descriptor
  }

  private var environment: [String: String] { ["HOME": folder, "XDG_RUNTIME_DIR": "\(folder)/run"] }

  private func words(_ words: [String]) throws -> [String] {
    let script = """
      mount --bind "$1/etc" /etc; mount --bind "$1/lib" /var/lib; mount --bind "$1/run" /run; shift; exec "$@"
      """
    return [
      "--mount", "--propagation", "private", "/bin/sh", "-ec", script, "sh", folder, try Programs.path("whorl"),
    ] + words
  }

  func whorl(_ words: [String], input: [UInt8]? = nil) async throws -> Invocation.Result {
    try await Invocation(
      program: "/usr/bin/unshare", arguments: try self.words(words), input: input, environment: environment
    ).run()
  }

  func terminal(_ words: [String]) throws -> PseudoTerminal {
    try PseudoTerminal(try self.words(words), program: "/usr/bin/unshare", environment: environment)
  }
}
