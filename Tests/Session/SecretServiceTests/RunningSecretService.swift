import Glibc
import Primitives
import ProgramDriver
import SecretModel
import Testing
import Whorl

/// The Secret Service on a private bus, over the store of a test with its virtual reader.
struct RunningSecretService {
  let bus: PrivateBus
  let store: TestStore
  let agent: RunningAgent

  /// Runs it while `body` runs, over a store with an enrolled finger.
  ///
  /// - Parameters:
  ///   - touches: fingers to press, one for each prompt.
  ///   - pinentry: a script that replaces the user's pinentry.
  static func with(
    _ touches: [Touches.Touch] = [], pinentry: String? = nil, _ body: (RunningSecretService) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      try await TestStore.enrolled { store in
        var environment = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
        if let pinentry {
          try writeFile("\(store.folder)/pinentry", Array(pinentry.utf8))
          chmod("\(store.folder)/pinentry", 0o700)
          environment["PATH"] = "\(store.folder):/usr/bin:/bin"
        }
        try await RunningAgent.with(store, touches, environment: environment, started: "serves") { _ in
          ["--secret-service"]
        } _: { agent in
          try await body(RunningSecretService(bus: bus, store: store, agent: agent))
        }
      }
    }
  }

  /// Runs a client program.
  func run(_ program: String, _ arguments: String..., input: String? = nil) async throws -> Invocation.Result {
    try await Invocation(
      program: program, arguments: arguments, input: input.map { Array($0.utf8) },
      environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder, "XDG_DATA_HOME": store.folder]
    ).run()
  }

  /// Waits until the person was asked so many times.
  func gateIsAsked(count: Int) async throws {
    try await agent.waits { lines in lines.count { $0.contains("the reader (virtual reader)") } >= count }
  }

  /// Runs a script of Python.
  func python(_ script: String) async throws -> Invocation.Result { try await run("/usr/bin/python3", "-c", script) }

  /// What `GetSecrets` gives for the items of these paths, as texts.
  func secrets(of paths: [String]) async throws -> [String] { try await Self.secrets(of: paths, on: bus) }

  /// The same of a service on any bus.
  static func secrets(of paths: [String], on bus: PrivateBus) async throws -> [String] {
    let script = """
      from secretstorage import dbus_init
      from secretstorage.util import DBusAddressWrapper
      from secretstorage.defines import SS_PATH
      service = DBusAddressWrapper(SS_PATH, 'org.freedesktop.Secret.Service', dbus_init())
      (_, session) = service.call('OpenSession', 'sv', 'plain', ('s', ''))
      (found,) = service.call('GetSecrets', 'aoo', \(paths), session)
      print(*sorted(bytes(value[2]).decode() for value in found.values()), sep='\\n')
      """
    let result = try await Invocation(
      program: "/usr/bin/python3", arguments: ["-c", script], environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    ).run()
    try result.mustSucceed()
    return result.text.split(separator: "\n").map(String.init)
  }

  func storeWithTool(_ secret: String, label: String, _ attributes: String...) async throws {
    try await Invocation(
      program: "/usr/bin/secret-tool", arguments: ["store", "--label=\(label)"] + attributes,
      input: Array(secret.utf8), environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    ).run().mustSucceed()
  }

  /// Gives the item with this label a rule.
  func gate(_ label: String, _ access: AccessControl.Constraint, _ grant: SecretServiceItem.Grant = .brief)
    async throws
  {
    try await withStore { store in
      let item = try #require(
        try await store.items(SecretServiceItem.search()).compactMap(SecretServiceItem.init)
          .first { $0.label == label })
      try await store.update([item.id], SecretServiceItem.change(access: AccessControl(access), grant: grant))
    }
  }

  /// Gives a program a rule, as `whorl secret-service gate --program` does.
  func gate(program path: String, _ access: AccessControl.Constraint, _ grant: SecretServiceItem.Grant = .brief)
    async throws
  {
    let rule = SecretServiceFolder(.program, path, access: access, grant: grant).item
    try await withStore { store in _ = try await store.put(rule, secret: SharedSecret(SecretBytes(count: 0))) }
  }

  /// Opens the store beside the service.
  func withStore<Value>(_ body: (SecretStore) async throws -> Value) async throws -> Value {
    let configuration = "\(store.folder)/test.json"
    let programs = #"{"vaultProgram":"\#(try Programs.path("whorld"))"}"#
    try writeFile(configuration, Array(programs.utf8))
    return try await body(
      try SecretStore.open(
        at: store.directory, reader: "virtual-image:\(store.socket)", configuration: configuration))
  }
}
