import Glibc
import Presence
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
