extension VaultService {
  /// All items that a search finds, up to its limit, from all pages. Shows no prompt.
  package func allItems(_ search: ItemSearch, _ asking: Asking = .nobody) async throws(VaultError) -> [Item] {
    var found: [Item] = []
    var next = search
    while true {
      let page = try await items(next, asking)
      found += page.items
      // The limit is for all pages together.
      next.limit = search.limit.map { $0 - found.count }
      next.after = page.next
      if next.after == nil || next.limit.map({ $0 <= 0 }) == true { return found }
    }
  }
}
