import Glibc
import Presence
import Primitives
import ProgramDriver
import SDBus
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@testable import Settings

/// A user's desktop with a wallet of the real daemon, in its own folders and on its own bus.
final class KWalletDesktop: Sendable {
  /// The daemon of this machine.
  static let daemon = KWalletDaemon.installed

  /// Whether the programs for these tests are installed. Prints a message once if not. With ksecretd the tests cannot
  /// read a wallet's secrets, which it gives only to the Secret Service.
  static let isInstalled: Bool = {
    let there = access(daemon.program, X_OK) == 0 && access("/usr/bin/dbus-daemon", X_OK) == 0
    if !there { print("kwalletd5 (libkf5wallet-bin) or dbus-daemon is not installed: their tests are skipped") }
    if daemon == .ksecretd { print("KWallet is ksecretd here: the tests with kwalletd5 or kwalletd6 are skipped") }
    return there && daemon != .ksecretd
  }()

  static let password = "typed in KDE"

  let folder: String
  let bus: String

  var runtime: String { "\(folder)/run" }
  var places: KWalletPlaces { KWalletPlaces(data: "\(folder)/data", runtime: runtime) }
  /// The environment that the desktop gives to its programs.
  var variables: [String: String] {
    [
      "HOME": folder, "XDG_DATA_HOME": "\(folder)/data", "XDG_CONFIG_HOME": "\(folder)/config",
      "XDG_CACHE_HOME": "\(folder)/cache", "XDG_RUNTIME_DIR": runtime, "LC_ALL": "C.UTF-8",
      "DBUS_SESSION_BUS_ADDRESS": bus, "QT_QPA_PLATFORM": "offscreen",
    ]
  }
  var environment: [String] { variables.map { "\($0)=\($1)" } }
  var opening: KWalletOpening { KWalletOpening(places, environment: environment) }

  private init(_ folder: String, bus: String) throws {
    self.folder = folder
    self.bus = bus
    for each in ["run", "data", "data/kwalletd", "config", "cache"] {
      guard mkdirPrivate("\(folder)/\(each)") else { throw SystemFailure(each) }
    }
  }

  /// Makes a desktop whose wallet has ``password`` and one secret, and no daemon running.
  static func with<Value>(_ body: (KWalletDesktop) async throws -> Value) async throws -> Value {
    try await PrivateBus.with { bus in
      try await withFolder { folder in
        let desktop = try KWalletDesktop(folder, bus: bus.address)
        do {
          try await desktop.makeWallet(with: password)
          let value = try await body(desktop)
          try await desktop.end()
          return value
        } catch {
          try? await desktop.end()
          throw error
        }
      }
    }
  }

  /// Makes a new wallet, as a login with KWallet's PAM module does, and stores a secret in it.
  func makeWallet(with password: String) async throws {
    for file in [places.file, places.salt] { unlink(file) }
    try writeFile(places.salt, (0..<56).map { _ in UInt8.random(in: 0...255) })
    try await start(with: try key(of: password).bytes)
    try await withBus { connection in
      let handle = try #require(
        try await connection.call(
          Self.target, "open", [.string(KWalletPlaces.wallet), .int64(0), .string("test")]
        ).first)
      _ = try await connection.call(
        Self.target, "writePassword",
        [handle, .string("folder"), .string("site"), .string("in the wallet"), .string("test")])
      _ = try await connection.call(Self.target, "close", [handle, .boolean(true), .string("test")])
    }
    try await end()
  }

  /// The stored secret, if the wallet is open. Does not open it.
  func stored() async throws -> String? {
    try await withBus { connection in
      let handle = try #require(
        try await connection.call(
          Self.target, "open", [.string(KWalletPlaces.wallet), .int64(0), .string("test")]
        ).first)
      return try await connection.call(
        Self.target, "readPassword", [handle, .string("folder"), .string("site"), .string("test")]
      ).first?.asString
    }
  }

  func key(of password: String) throws -> SharedSecret {
    SharedSecret(
      try WalletKey.derive(from: SecretBytes(text: password), salt: try KWalletFile.salt(of: places)))
  }

  /// Starts the user's daemon with a key, and waits until it answers.
  func start(with key: borrowing SecretBytes) async throws {
    _ = try KWalletStart(places: places, folder: "\(runtime)/start", environment: environment).run(giving: key)
    for _ in 0..<1_000 {
      if try await KWalletBus(address: bus, daemon: places.daemon).isOpen() != nil { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw SystemFailure(places.daemon.name, ETIMEDOUT)
  }

  /// The process of the user's daemon; nil where none runs.
  func daemon() async throws -> pid_t? {
    try await withBus { connection in
      guard let owner = try await connection.owner(of: places.daemon.busName) else { return nil }
      // The daemon may end before the call.
      let answer = try? await connection.call(MessageBus.target, "GetConnectionUnixProcessID", [.string(owner)])
      return answer?.first?.asUInt32.map { pid_t($0) }
    }
  }

  func end() async throws {
    guard let pid = try await daemon() else { return }
    kill(pid, SIGTERM)
    while try await daemon() != nil { try await Task.sleep(for: .milliseconds(10)) }
  }

  private static let target = BusTarget(
    destination: daemon.busName, path: daemon.path, interface: daemon.interface)

  private func withBus<Value>(_ body: (BusConnection) async throws -> Value) async throws -> Value {
    let connection = try BusConnection(busAddress: bus, handlers: .init())
    defer { connection.close() }
    return try await body(connection)
  }
}

extension Trait where Self == ConditionTrait {
  static var withKWallet: Self { .enabled(if: KWalletDesktop.isInstalled, "kwalletd5 is not installed") }
}
