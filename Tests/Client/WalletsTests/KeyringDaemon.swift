import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing
import VaultDriver

@testable import Settings

/// A gnome-keyring-daemon of a user with a login keyring, in its own folders. Without a bus it serves only its control
/// socket.
final class KeyringDaemon: Sendable {
  /// Whether the programs for these tests are installed. Prints a message once if not.
  static let isInstalled: Bool = {
    let there = access("/usr/bin/gnome-keyring-daemon", X_OK) == 0 && access("/usr/bin/secret-tool", X_OK) == 0
    if !there { print("gnome-keyring or libsecret-tools is not installed: its tests are skipped") }
    return there
  }()

  static let password = "typed at the first login"

  let folder: String
  let bus: String?
  /// The parts that it runs.
  private let components = Mutex("")

  var runtime: String { "\(folder)/run" }
  var places: KeyringPlaces { KeyringPlaces(data: "\(folder)/data", runtime: runtime) }
  var control: KeyringControl { KeyringControl(at: places.control) }

  private init(_ folder: String, bus: String?) throws {
    self.folder = folder
    self.bus = bus
    components.withLock { $0 = bus == nil ? "" : "secrets" }
    for each in ["run", "run/keyring", "data", "data/keyrings"] {
      guard mkdirPrivate("\(folder)/\(each)") else { throw SystemFailure(each) }
    }
    try writeFile("\(folder)/data/keyrings/default", Array("login".utf8))
  }

  /// Runs a daemon whose login keyring has ``password``, and ends it.
  static func with<Value>(bus: String? = nil, _ body: (KeyringDaemon) async throws -> Value) async throws -> Value {
    try await withFolder { folder in
      let daemon = try KeyringDaemon(folder, bus: bus)
      do {
        try await daemon.start()
        // A keyring made by its first secret appears on the bus only after a restart.
        #expect(try daemon.unlock(password) == .done)
        try await daemon.restart()
        #expect(try daemon.unlock(password) == .done)
        let value = try await body(daemon)
        daemon.end()
        return value
      } catch {
        daemon.end()
        throw error
      }
    }
  }

  /// Starts it with a locked keyring, like a session.
  func start(_ options: String...) async throws {
    guard mkdirPrivate("\(runtime)/keyring") || errno == EEXIST else { throw SystemFailure(runtime) }
    let words =
      ["/usr/bin/gnome-keyring-daemon", "--foreground", "--components=\(components.withLock { $0 })"] + options
      + ["--control-directory=\(runtime)/keyring"]
    var environment = [
      "HOME=\(folder)", "XDG_DATA_HOME=\(folder)/data", "XDG_RUNTIME_DIR=\(runtime)", "LC_ALL=C.UTF-8",
    ]
    environment.append("DBUS_SESSION_BUS_ADDRESS=\(bus ?? "unix:path=\(folder)/none")")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for stream in [Int32(1), 2] {
      posix_spawn_file_actions_addopen(&actions, stream, "\(folder)/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    InheritedDescriptors.close(&actions)
    let argv = words.map { strdup($0) } + [nil]
    let envp = environment.map { strdup($0) } + [nil]
    defer { for string in argv + envp { free(string) } }
    // Unblock the signals that the test runner blocks: the daemon must receive SIGTERM.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var pid: pid_t = 0
    let code = posix_spawn(&pid, words[0], &actions, &attributes, argv, envp)
    guard code == 0 else { throw SystemFailure(words[0], code) }
    for _ in 0..<1_000 {
      if (try? control.requireListening()) != nil { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw SystemFailure("gnome-keyring-daemon", ETIMEDOUT)
  }

  /// - Parameter components: the components to run from now on; nil keeps them.
  func restart(with components: String? = nil) async throws {
    end()
    if let components { self.components.withLock { $0 = components } }
    try await start()
  }

  func end() {
    for pid in processes(with: "--control-directory=\(runtime)/keyring\0") {
      kill(pid, SIGTERM)
      waitpid(pid, nil, 0)
    }
  }

  func unlock(_ secret: String) throws -> KeyringControl.Answer { try control.unlock(with: SecretBytes(text: secret)) }

  /// Whether the secret opens a copy of the keyring's file.
  func fileOpens(with secret: String) async throws -> Bool {
    try await KeyringTrial(of: places).opens(with: SecretBytes(text: secret))
  }

  var files: [String] { (try? folderEntries(places.folder).sorted()) ?? [] }

  /// Runs secret-tool on the daemon's bus, for at most five seconds, since it waits for prompts for ever.
  func secretTool(_ words: String..., input: String? = nil) async throws -> Invocation.Result {
    try await Invocation(
      program: "/usr/bin/timeout", arguments: ["5", "/usr/bin/secret-tool"] + words,
      input: input.map { Array($0.utf8) },
      environment: ["DBUS_SESSION_BUS_ADDRESS": bus ?? "", "HOME": folder]
    ).run()
  }
}

extension Trait where Self == ConditionTrait {
  static var withKeyring: Self { .enabled(if: KeyringDaemon.isInstalled, "gnome-keyring is not installed") }
}
