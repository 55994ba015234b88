import Primitives
import SecretModel
import Synchronization

/// The log of one store of the service: in the journal for administrators, and in a file in the store's folder for its
/// user, who may not read the journal.
///
/// Requests without a prompt can be sent at any rate, so their entries per minute are limited. The next entry says how
/// many were omitted.
final class StoreLog: AuditLog {
  /// Sends an entry of a user to the journal. May block.
  typealias Journal = @Sendable (AuditEntry, _ user: UInt32) -> Void

  /// The most entries in a minute for requests without a prompt.
  static let unaskedLimit = 120
  /// The most entries that may wait for the writer.
  private static let waitingLimit = 1_000

  private struct State {
    var waiting: [AuditEntry] = []
    var isWriting = false
    /// The minute (since 1970) for which requests without a prompt are counted.
    var minute: Int64 = 0
    var unasked = 0
    var omitted = 0
    /// The number of the newest entry; nil before the file was read.
    var lastNumber: Int?

    /// Whether the entry is to be written. Counts the omitted entries.
    mutating func admits(_ entry: AuditEntry) -> Bool {
      if entry.time / 60 != minute { (minute, unasked) = (entry.time / 60, 0) }
      if entry.prompts.isEmpty { unasked += 1 }
      guard waiting.count < StoreLog.waitingLimit, !entry.prompts.isEmpty || unasked <= StoreLog.unaskedLimit else {
        omitted += 1
        return false
      }
      return true
    }

    /// The entries that wait, with their numbers.
    mutating func take() -> [AuditEntry] {
      for index in waiting.indices {
        lastNumber = (lastNumber ?? 0) + 1
        waiting[index].number = lastNumber ?? 0
      }
      defer { waiting = [] }
      return waiting
    }
  }

  private let user: UInt32
  private let file: LogFile
  private let journal: Journal
  /// The thread that writes, one job at a time.
  private let thread: BackgroundThread
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: of the store.
  ///   - thread: used by the logs alone, since writing blocks.
  init(of user: UInt32, in folder: String, on thread: BackgroundThread, journal: @escaping Journal) {
    self.user = user
    self.thread = thread
    self.journal = journal
    file = LogFile(in: folder)
  }

  func record(_ entry: AuditEntry) {
    let begins = state.withLock { state in
      guard state.admits(entry) else { return false }
      var entry = entry
      (entry.omitted, state.omitted) = (state.omitted, 0)
      state.waiting.append(entry)
      guard !state.isWriting else { return false }
      state.isWriting = true
      return true
    }
    if begins { Task(executorPreference: thread) { self.write() } }
  }

  func entries(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] {
    let all = await Task(executorPreference: thread) {
      self.write()
      return self.file.entries()
    }.value
    return all.filter(search.includes).suffix(search.last)
  }

  /// Writes the waiting entries. Called on the thread of the log.
  private func write() {
    if state.withLock({ $0.lastNumber == nil }) {
      let last = file.entries().last?.number ?? 0
      state.withLock { $0.lastNumber = last }
    }
    while true {
      let entries = state.withLock { state in
        if state.waiting.isEmpty { state.isWriting = false }
        return state.take()
      }
      guard !entries.isEmpty else { return }
      file.append(entries)
      for entry in entries { journal(entry, user) }
    }
  }
}
