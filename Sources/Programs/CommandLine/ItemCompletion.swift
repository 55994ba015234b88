import ArgumentParser
import Dispatch
import Executors
import SecretModel
import Synchronization
import Whorl

extension CompletionKind {
  /// Completes names of items. Listing them needs no finger. Completes nothing where the store is missing or cannot be
  /// opened.
  static let itemNames = CompletionKind.custom { words, _, _ in
    // The parser calls this synchronously.
    let names = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: BackgroundThread()) {
      let found = await Self.names(words)
      names.withLock { $0 = found }
      done.signal()
    }
    done.wait()
    return names.withLock { $0 }
  }

  private static func names(_ words: [String]) async -> [String] {
    guard let options = try? GlobalOptions.parse(place(in: words)),
      let session = try? Session(options, CommandConnection(for: []))
    else {
      return []
    }
    guard let store = try? await session.store(),
      let items = try? await store.allItems(ItemSearch(nil))
    else {
      await session.close()
      return []
    }
    await session.close()
    return Array(Swift.Set(items.filter { $0.state == .living }.compactMap { $0.name?.description })).sorted()
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
