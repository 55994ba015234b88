import Presence
import SecretModel
import VaultItems
import VaultStore

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
