import ArgumentParser
import CommandBase
import Dispatch
import Primitives
internal import SecretModel
import Settings
import Synchronization

extension CompletionKind {
  /// Completes names of items. Listing them needs no finger. Completes nothing if the store is missing or cannot be
  /// opened.
  static let itemNames = names { session in
    // Items of the Secret Service have generated names, which nobody types.
    let unnamed = [SecretServiceItem.accessGroup, SecretServiceFolder.accessGroup]
    return try await session.request { try await $0.allItems(ItemSearch(synchronizable: .any)) }
      .filter { item in item.state == .living && !unnamed.contains { item.group == $0 } }
      .compactMap { $0.name?.description }
  }

  /// Completes labels of items of the Secret Service.
  static let secretServiceLabels = names { session in
    try await session.request { try await SecretServiceContents(of: $0).items.map(\.label) }
  }

  /// Completes names of collections of the Secret Service.
  static let secretServiceCollections = names { session in
    try await session.request { try await SecretServiceContents(of: $0).collections.map(\.name) }
  }

  /// Completes programs that have a rule.
  static let secretServicePrograms = names { session in
    try await session.request { try await SecretServiceContents(of: $0).programs.map(\.name) }
  }

  /// Completes names of keys for SSH, including unusable ones.
  static let sshKeyNames = names { session in
    try await StoredKeys<SSHKey>(in: session.openStore()).all([.living, .dead]).map(\.name)
  }

  /// Completes passkeys.
  static let passkeyNames = names { session in
    try await session.request { try await $0.allItems(ItemSearch(.passkey, groups: .all, synchronizable: .any)) }
      .compactMap { Passkey($0)?.called }
  }

  /// Completes the machines of the circle other than this one.
  static let syncMembers = names { session in
    try await session.request { try await $0.sync.status() }.members.filter { !$0.isThisMachine }.map(\.name)
  }

  /// Completes the machines that ask to be let into the circle.
  static let syncCandidates = names { session in
    try await session.request { try await $0.sync.status() }.candidates.map { String($0.id.description.prefix(8)) }
  }

  /// Completes what a command of the typed store lists.
  static func names(
    _ list: @escaping @Sendable (Session) async throws -> [String]
  ) -> CompletionKind {
    .custom { words, _, _ in
      // The parser calls this synchronously.
      let names = Mutex<[String]>([])
      let done = DispatchSemaphore(value: 0)
      Task.detached(executorPreference: BackgroundThread()) {
        let found = await Self.names(words, list)
        names.withLock { $0 = found }
        done.signal()
      }
      done.wait()
      return names.withLock { $0 }
    }
  }

  private static func names(
    _ words: [String], _ list: @Sendable (Session) async throws -> [String]
  ) async -> [String] {
    guard let options = try? GlobalOptions.parse(place(in: words)),
      let session = try? Session(options, CommandConnection(for: []))
    else {
      return []
    }
    let found = (try? await list(session)) ?? []
    await session.close()
    return Array(Set(found)).sorted()
  }

  /// The typed words that select the store.
  private static func place(in words: [String]) -> [String] {
    var place: [String] = []
    for (index, word) in words.enumerated() {
      let (name, hasValue) = (String(word.prefix { $0 != "=" }), word.contains("="))
      guard ["--store", "--config"].contains(name), hasValue || index + 1 < words.count else { continue }
      place += hasValue ? [word] : [word, words[index + 1]]
    }
    return place
  }
}
