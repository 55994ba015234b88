import Glibc
import Presence
import SecretModel
import Synchronization
import VaultItems
import VaultStore

/// Records the requests of one session in the log of its store.
final class SessionLog: Sendable {
  /// The most items in an entry.
  static let itemLimit = 64

  let log: any AuditLog
  private let caller: Caller
  /// The events of the session's contexts. Their tallies count what was asked.
  private let contexts = Mutex<[ContextHandle: ContextEvents]>([:])

  init(_ log: any AuditLog, of caller: Caller) {
    self.log = log
    self.caller = caller
  }

  func opened(_ handle: ContextHandle, _ events: ContextEvents) { contexts.withLock { $0[handle] = events } }
  func closed(_ handle: ContextHandle) { _ = contexts.withLock { $0.removeValue(forKey: handle) } }

  /// A context's events, and their tally at the start of a call. Kept for the whole call, since a program may close the
  /// context before the call ends.
  struct Start {
    fileprivate let events: ContextEvents
    fileprivate let tally: EventTally
  }

  /// The start of a call in a context; nil where nobody can be asked.
  func start(in context: ContextHandle?) -> Start? {
    guard let context, let events = contexts.withLock({ $0[context] }) else { return nil }
    return Start(events: events, tally: events.tally)
  }

  /// Writes an entry for a call that has ended, and more where it has named more than ``itemLimit`` items.
  ///
  /// - Parameters:
  ///   - start: the start of the call; nil where nobody could be asked.
  ///   - behalf: the program for which the caller says it asks.
  func record(
    _ request: AuditEntry.Request, since start: Start?, for behalf: String?, items: [ItemID], _ error: VaultError?
  ) {
    var entry = AuditEntry(
      time: Int64(time(nil)), program: caller.label, process: caller.process.map { Int($0.id) }, behalf: behalf,
      request: request, items: Array(items.prefix(Self.itemLimit)), outcome: error.map { .failed($0.name) } ?? .done)
    entry.isSetChanged = error == nil && request.changesSet
    if let start { start.events.tally.describe(since: start.tally, in: &entry) }
    log.record(entry)
    guard error == nil else { return }
    // Log further items in more entries, without prompts.
    for start in stride(from: Self.itemLimit, to: items.count, by: Self.itemLimit) {
      entry.items = Array(items[start...].prefix(Self.itemLimit))
      entry.prompts = []
      log.record(entry)
    }
  }
}

extension AuditEntry.Request {
  fileprivate var changesSet: Bool {
    switch self {
    case .enroll, .unenroll: true
    default: false
    }
  }

  /// Whether the request may change which items a search finds.
  var changesItems: Bool {
    switch self {
    case .change, .delete: true
    default: false
    }
  }
}

/// The calls of one client, each with an entry in the log.
struct LoggedCalls: Sendable {
  let vault: Vault
  let client: Client
  /// Nil where nothing is logged.
  let sessionLog: SessionLog?

  func request(_ asking: Asking) -> Request { Request(of: client, asking) }

  /// Runs a call and logs it.
  ///
  /// - Parameters:
  ///   - asking: without a context, nobody may be asked. A call that fails for this reason is not logged, since
  ///     programs try this first and then repeat the call with a context.
  ///   - selection: the items of the call.
  ///   - found: returns the items that the answer names.
  func logged<Answer: ~Copyable>(
    _ request: AuditEntry.Request, _ asking: Asking, _ selection: ItemSelection = .ids([]),
    found: (borrowing Answer) -> [ItemID]? = { _ in nil }, _ call: () async throws(VaultError) -> Answer
  ) async throws(VaultError) -> Answer {
    guard let sessionLog else { return try await call() }
    let before = request.changesItems ? await ids(of: selection) : nil
    let start = sessionLog.start(in: asking.context)
    do throws(VaultError) {
      let answer = try await call()
      let items = if let ids = before ?? found(answer) { ids } else { await ids(of: selection) }
      // Do not log a read that found nothing: programs use it to test whether an item exists and requires nothing.
      if request == .read, items.isEmpty { return answer }
      sessionLog.record(request, since: start, for: asking.behalf, items: items, nil)
      return answer
    } catch {
      guard asking.context != nil || error != .interactionNotAllowed else { throw error }
      let items = if let before { before } else { await ids(of: selection) }
      sessionLog.record(request, since: start, for: asking.behalf, items: items, error)
      throw error
    }
  }

  /// The items of a call, if they can be found without asking anybody.
  private func ids(of selection: ItemSelection) async -> [ItemID] {
    let searches: [ItemSearch]
    switch selection {
    case .ids(let ids): return ids
    case .names(let names): searches = names.prefix(SessionLog.itemLimit).map { ItemSearch(named: $0) }
    case .open(let names, let group):
      searches = names.prefix(SessionLog.itemLimit).map { ItemSearch(named: $0, in: group) }
    case .search(var search):
      search.interaction = .allow
      search.limit = min(search.limit ?? SessionLog.itemLimit, SessionLog.itemLimit)
      searches = [search]
    }
    var ids: [ItemID] = []
    for search in searches {
      if let page = try? await vault.items(search, request(.nobody)) { ids += page.items.map(\.id) }
    }
    return ids
  }
}

/// A change for which the system asks users for their login password, so that no program makes it in their place.
package enum OwnersChange: Sendable, Hashable, CaseIterable {
  case newStore, storeOfBackup, newDeviceKey, firstFinger, newRecoveryKey
}

/// Checks the machine's rules, in addition to the store's passcode, before a session changes the fingers or the
/// recovery key of its store. Each closure throws if the rules forbid the change.
package struct FingerRules: Sendable {
  /// Called before the enrolled fingers or the store's reader adapter are changed.
  package var change: @Sendable () async throws(VaultError) -> Void
  /// Called in addition before a finger is enrolled, or the store takes over fprintd's fingers.
  package var enrolment: @Sendable () async throws(VaultError) -> Void
  /// Called in addition before the first finger is enrolled, and before the recovery key is replaced.
  package var owner: @Sendable (OwnersChange) async throws(VaultError) -> Void

  package init(
    change: @escaping @Sendable () async throws(VaultError) -> Void,
    enrolment: @escaping @Sendable () async throws(VaultError) -> Void,
    owner: @escaping @Sendable (OwnersChange) async throws(VaultError) -> Void
  ) {
    self.change = change
    self.enrolment = enrolment
    self.owner = owner
  }
}
