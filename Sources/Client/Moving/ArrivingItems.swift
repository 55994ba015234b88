// Moving: copies items between stores, and into and out of files. Begin with `ArrivingItems`, by which every copy puts items
// into a store. `Files` has Whorl's own encrypted files, `Migration` the way between a user's two stores, `OtherPrograms`
// what every `ImportSource` has in common, `OtherStores` the sources, `Passkeys` the files of other managers, and
// `SyncRepository` the way to a user's other machines.

internal import Primitives
package import SecretModel

/// Stores a sequence of items: many in each transaction, while the next ones are read.
package struct ArrivingItems {
  /// The maximum size of the secrets and attributes in a transaction, in bytes; one item may have more.
  private static let size = 2 << 20
  /// How many transactions may run or wait in the vault, so that it can start the next one without a pause.
  private static let runningLimit = 2

  private struct Running {
    let items: [ItemToAdd]
    let call: Task<Result<[RefusedItem], VaultError>, Never>
  }

  private let store: any VaultService
  private var waiting: [ItemToAdd] = []
  private var waitingSize = 0
  /// In the order in which they were begun.
  private var running: [Running] = []

  package init(in store: any VaultService) { self.store = store }

  /// Stores an item with others, now or later.
  ///
  /// - Parameter told: called for each item of a transaction that has ended, with the error of one that was refused.
  package mutating func add(
    _ item: ItemToAdd, _ told: (NewItem, VaultError?) -> Void
  ) async throws(VaultError) {
    let size = item.secret.bytes.count + item.item.attributes.reduce(0) { $0 + $1.value.size }
    // Many at a time: the pages of the store's indexes are written once for each transaction.
    if !waiting.isEmpty, waiting.count == ItemToAdd.limit || waitingSize + size > Self.size { try await send(told) }
    waiting.append(item)
    waitingSize += size
  }

  /// Stores the waiting items, and returns when everything is stored.
  package mutating func finish(_ told: (NewItem, VaultError?) -> Void) async throws(VaultError) {
    if !waiting.isEmpty { try await send(told) }
    while !running.isEmpty { try await settle(told) }
  }

  /// After an error: waits for the running transactions, and ignores their results.
  package mutating func abandon() async {
    for each in running { _ = await each.call.value }
    running = []
  }

  private mutating func send(_ told: (NewItem, VaultError?) -> Void) async throws(VaultError) {
    if running.count == Self.runningLimit { try await settle(told) }
    let (items, store) = (waiting, store)
    waiting = []
    waitingSize = 0
    running.append(
      Running(
        items: items,
        call: Task(executorPreference: BackgroundThread.shared) {
          do throws(VaultError) {
            return .success(try await store.add(items))
          } catch {
            return .failure(error)
          }
        }))
  }

  /// Waits for the first transaction.
  private mutating func settle(_ told: (NewItem, VaultError?) -> Void) async throws(VaultError) {
    let first = running.removeFirst()
    var refused: [Int: VaultError] = [:]
    for item in try await first.call.value.get() { refused[item.place] = item.error }
    for (place, entry) in first.items.enumerated() { told(entry.item, refused[place]) }
  }
}

extension AttributeValue {
  /// Its approximate size in a message, in bytes.
  fileprivate var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .number, .date: 8
    }
  }
}

/// The result of adding an item to a store that may have it already.
enum Arrival {
  case added(ItemID)
  /// The store has an item with the same primary attributes, which stays unchanged.
  case alreadyThere
}

extension VaultService {
  /// Adds an item if the store has none with the same primary attributes. Shows no prompt.
  func bringIn(_ item: NewItem, secret: consuming SecretBytes) async throws(VaultError) -> Arrival {
    do throws(VaultError) {
      let added =
        if item.itemClass == .passkey {
          try await addKey(item, from: .passkey(SharedSecret(secret)))
        } else {
          try await add(item, secret: secret, replacing: false, .nobody)
        }
      return .added(added.id)
    } catch .duplicateItem {
      return .alreadyThere
    }
  }

  /// Adds a passkey, and returns the error if the store refuses it.
  ///
  /// - Throws: errors that prevent storing any item.
  func refusal(of passkey: NewItem, _ secret: SharedSecret) async throws(VaultError) -> VaultError? {
    do throws(VaultError) {
      if case .alreadyThere = try await bringIn(passkey, secret: secret.copy()) { return .duplicateItem }
      return nil
    } catch {
      guard error.concernsNewItem else { throw error }
      return error
    }
  }
}
