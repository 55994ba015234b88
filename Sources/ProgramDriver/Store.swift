import Glibc
import Synchronization

/// A store for one test, made by the program itself. Stores with a passcode are copies of one that is made once,
/// because stretching a passcode takes most of a second.
package struct TestStore: Sendable {
  package static let passcode = "correct horse"

  package let folder: String
  package let recoveryKey: String

  package var directory: String { "\(folder)/store" }
  /// Where the virtual reader listens.
  package var socket: String { "\(folder)/reader" }

  /// Arguments for this store.
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

  /// A call that is given the passcode.
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

  /// Stores a text.
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

  /// The store that is made once for all tests, in a folder that stays until the runner ends.
  private actor Template {
    static let shared = Template()
    private var making: Task<TestStore, any Error>?

    func made() async throws -> TestStore {
      if let making { return try await making.value }
      let task = Task {
        let folder = try temporaryFolder("whorl-test-template")
        templateFolder.withLock { $0 = folder }
        atexit { templateFolder.withLock { removeFolder($0) } }
        let made = try await Invocation(
          arguments: ["init", "--passcode-fd", "3", "--recovery-fd", "9", "--store", "\(folder)/store"],
          descriptors: [TestStore.passcode + "\n"], readsDescriptor9: true
        ).run()
        try made.mustSucceed()
        return TestStore(folder: folder, recoveryKey: String(made.descriptor9.dropLast()))
      }
      making = task
      return try await task.value
    }
  }
}

private let templateFolder = Mutex("")
