import Primitives
import SecretModel
import Synchronization

/// The vault's side of sync without keys: files by path, of which the greater contents win.
final class PretendVault: SyncService {
  struct State {
    /// What this machine has.
    var own: [String: [UInt8]] = [:]
    /// What the repository has, as far as it was received.
    var seen: [String: [UInt8]] = [:]
    var lost: Set<String> = []
    var standing = SyncStatus.Standing.member
    /// The paths of each call of `receive`.
    var received: [[String]] = []
    var lastCalls = 0
    var statusCalls = 0
    var isMixed = false
    /// What one item waits for; nothing waits without.
    var waiting: SyncStatus.Waiting.Reason?
  }

  let state: Mutex<State>
  private let pageLength: Int
  /// Called before each call, by name.
  let before: @Sendable (String) throws(VaultError) -> Void

  init(
    _ files: [String: String], pageLength: Int = 100,
    before: @escaping @Sendable (String) throws(VaultError) -> Void = { (_) throws(VaultError) in }
  ) {
    var own = files.mapValues { Array($0.utf8) }
    own["format"] = Array("whorl-sync 2\n".utf8)
    state = Mutex(State(own: own))
    (self.pageLength, self.before) = (pageLength, before)
  }

  var files: [String: String] { state.withLock { $0.own.mapValues { String(decoding: $0, as: UTF8.self) } } }
  var isSettled: Bool { state.withLock { $0.own == $0.seen } }

  func set(_ path: String, _ text: String) { state.withLock { $0.own[path] = Array(text.utf8) } }

  func status() async throws(VaultError) -> SyncStatus {
    try before("status")
    return state.withLock { state in
      state.statusCalls += 1
      return SyncStatus(
        standing: state.standing, items: state.own.count,
        pending: state.standing == .removed ? 0 : Self.missing(state, false).count,
        waiting: state.waiting.map { [SyncStatus.Waiting(item: ItemName("x"), reason: $0)] } ?? [],
        lost: state.lost.count)
    }
  }

  private static func missing(_ state: State, _ puttingBack: Bool) -> [String] {
    state.own.keys.filter { path in
      state.seen[path] != state.own[path] && (puttingBack || !state.lost.contains(path))
    }.sorted()
  }

  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes {
    throw .itemGone
  }

  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt {
    try before("receive")
    return state.withLock { state in
      var receipt = SyncReceipt()
      state.received.append(files.map(\.path))
      if isLast { state.lastCalls += 1 }
      for file in files {
        guard let contents = file.contents else {
          if state.seen.removeValue(forKey: file.path) != nil { state.lost.insert(file.path) }
          continue
        }
        state.seen[file.path] = contents
        state.lost.remove(file.path)
        guard let own = state.own[file.path] else {
          state.own[file.path] = contents
          receipt.changed.append(ItemName(file.path))
          continue
        }
        if own.lexicographicallyPrecedes(contents) {
          state.own[file.path] = contents
          receipt.kept.append(ItemName(file.path))
        }
      }
      receipt.wentBack = !state.lost.isEmpty
      receipt.isMixed = state.isMixed
      return receipt
    }
  }

  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch {
    try before("files")
    return state.withLock { state in
      guard puttingBack || state.lost.isEmpty else { return SyncBatch(files: [], next: nil) }
      let paths = Self.missing(state, puttingBack).filter { $0 > after ?? "" }
      let page = paths.prefix(pageLength)
      return SyncBatch(
        files: page.map { SyncFile($0, state.own[$0]) }, next: page.count < paths.count ? page.last : nil)
    }
  }

  func begin(_ beginning: SyncBeginning, _ asking: Asking) async throws(VaultError) {}
  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ asking: Asking
  ) async throws(VaultError) {}
  func change(_ change: SyncMemberChange, _ asking: Asking) async throws(VaultError) {}
  func resolve(_ resolution: SyncResolution, _ asking: Asking) async throws(VaultError) {}
  func change(from known: Int) async throws(VaultError) -> Int { known }
}

extension ItemName {
  init(_ path: String) { self = (try? ItemName(parsing: path)) ?? ItemName(unchecked: path, account: "") }
}
