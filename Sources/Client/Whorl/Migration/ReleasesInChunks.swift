internal import SecretModel

/// Reads the secrets of many items, with few of them in memory at a time.
struct ReleasesInChunks {
  let store: any VaultService
  /// Who is asked: for at most one touch and one passcode, if the context keeps what was shown.
  let asking: Asking

  /// The most items whose secrets are in memory at a time.
  private static let chunk = 50

  /// Passes each item with its secret to `body`, in the order of the ids, or the error that concerns it alone.
  ///
  /// - Throws: errors of an authentication and of the store, and what `body` throws.
  func read(
    _ ids: [ItemID], _ body: (Int, Result<ReleasedItem, VaultError>) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    for start in stride(from: 0, to: ids.count, by: Self.chunk) {
      try await read(ids, start..<min(start + Self.chunk, ids.count), body)
    }
  }

  private func read(
    _ ids: [ItemID], _ range: Range<Int>,
    _ body: (Int, Result<ReleasedItem, VaultError>) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    let released: [ReleasedItem]
    do throws(VaultError) {
      released = try await store.secrets(.ids(Array(ids[range])), asking)
    } catch {
      guard error.concernsOneItem else { throw error }
      guard range.count > 1 else { return try await body(range.lowerBound, .failure(error)) }
      // One of the items cannot be read: read them one by one.
      for index in range { try await read(ids, index..<index + 1, body) }
      return
    }
    for (index, item) in zip(range, released) { try await body(index, .success(item)) }
  }
}

extension VaultError {
  /// Whether the error concerns one item, so that others may still be read.
  fileprivate var concernsOneItem: Bool {
    switch self {
    case .itemGone, .itemInvalidated, .itemDamaged, .differentReader: true
    default: false
    }
  }
}
