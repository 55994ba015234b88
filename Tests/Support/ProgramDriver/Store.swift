import Glibc
import Synchronization

/// A store for one test, made by `whorl` itself. A store with a passcode is a copy of one that is made once, because
/// deriving a key from a passcode takes most of a second.
package struct TestStore: Sendable {
  package static let passcode = "correct horse"

  package let folder: String
  package let recoveryKey: String

  package init(folder: String, recoveryKey: String) {
    (self.folder, self.recoveryKey) = (folder, recoveryKey)
  }

  package var directory: String { "\(folder)/store" }
  /// The socket of the virtual reader.
  package var socket: String { "\(folder)/reader" }

  /// Adds the options that select this store and its reader.
  package func arguments(_ words: [String]) -> [String] {
    guard let separator = words.firstIndex(of: "--") else { return words + ["--store", directory] }
    return words[..<separator] + ["--store", directory] + words[separator...]
  }

  package func whorl(
    _ words: String..., input: [UInt8]? = nil, descriptors: [String] = [], environment: [String: String] = [:]
  ) async throws -> Invocation.Result {
    try await Invocation(
      arguments: arguments(words), input: input, descriptors: descriptors, environment: environment
    ).run()
  }

  /// Runs a command with the passcode.
  package func unlocked(_ words: String..., more: [String] = [], input: [UInt8]? = nil) async throws
    -> Invocation.Result
  {
    try await Invocation(
      arguments: arguments(Self.withPasscode(words)), input: input,
      descriptors: [([Self.passcode] + more).map { $0 + "\n" }.joined()]
    ).run()
  }

  package static func withPasscode(_ words: [String]) -> [String] {
    guard let separator = words.firstIndex(of: "--") else { return words + ["--passcode-fd", "3"] }
    return words[..<separator] + ["--passcode-fd", "3"] + words[separator...]
  }

  /// Stores a text as a secret.
  package func set(_ name: String, _ secret: String, _ options: String...) async throws {
    let result = try await Invocation(
      arguments: arguments(["set", name] + options), input: Array(secret.utf8)
    ).run()
    try result.mustSucceed()
  }

  package static func with<Value>(_ body: (TestStore) async throws -> Value) async throws -> Value {
    let template = try await Template.shared.made()
    return try await withFolder { folder in
      try copyFolder(template.directory, "\(folder)/store")
      return try await body(TestStore(folder: folder, recoveryKey: template.recoveryKey))
    }
  }

  package static func withoutPasscode<Value>(_ body: (TestStore) async throws -> Value) async throws -> Value {
    try await withFolder { folder in
      let made = try await Invocation(
        arguments: ["init", "--no-passcode", "--recovery-fd", "9", "--store", "\(folder)/store"], readsDescriptor9: true
      ).run()
      try made.mustSucceed()
      return try await body(TestStore(folder: folder, recoveryKey: String(made.descriptor9.dropLast())))
    }
  }

  /// A store with a passcode, with person 1's right index finger enrolled on its virtual reader, and with one item for
  /// each kind of access: `open`, `presence`, `any-finger` and `current-set`. Each item's secret is its name.
  package static func enrolled<Value>(_ body: (TestStore) async throws -> Value) async throws -> Value {
    let template = try await Template.enrolled.made()
    return try await withFolder { folder in
      try copyFolder(template.directory, "\(folder)/store")
      return try await body(TestStore(folder: folder, recoveryKey: template.recoveryKey))
    }
  }

  /// A store that is made once for all tests, in a folder that exists until the test runner ends.
  private actor Template {
    static let shared = Template { folder in
      let made = try await Invocation(
        arguments: ["init", "--passcode-fd", "3", "--recovery-fd", "9", "--store", "\(folder)/store"],
        descriptors: [TestStore.passcode + "\n"], readsDescriptor9: true
      ).run()
      try made.mustSucceed()
      return TestStore(folder: folder, recoveryKey: String(made.descriptor9.dropLast()))
    }

    static let enrolled = Template { folder in
      let plain = try await shared.made()
      let store = TestStore(folder: folder, recoveryKey: plain.recoveryKey)
      try copyFolder(plain.directory, store.directory)
      try await store.enroll().mustSucceed()
      for (name, access) in [
        ("open", "none"), ("presence", "presence"), ("any-finger", "any-finger"), ("current-set", "current-set"),
      ] {
        try await store.set(name, name, "--access", access)
      }
      return store
    }

    private let make: @Sendable (String) async throws -> TestStore
    private var making: Task<TestStore, any Error>?

    init(_ make: @escaping @Sendable (String) async throws -> TestStore) { self.make = make }

    func made() async throws -> TestStore {
      if let making { return try await making.value }
      let task = Task { [make] in
        let folder = try temporaryFolder("whorl-test-template")
        templateFolders.withLock { folders in
          if folders.isEmpty { atexit { templateFolders.withLock { $0.forEach(removeFolder) } } }
          folders.append(folder)
        }
        return try await make(folder)
      }
      making = task
      return try await task.value
    }
  }
}

private let templateFolders = Mutex<[String]>([])
