internal import Executors
package import SecretModel

/// Reads the secrets of many items, with few of them in memory at a time.
package struct ReleasesInChunks {
  private let store: any VaultService
  private let asking: Asking

  /// The maximum number of items whose secrets are in memory at a time.
  private static let chunk = 500
  /// The maximum size of their secrets, in bytes; one item may have more.
  private static let size = 2 << 20

  private typealias Answer = Result<[ReleasedItem], VaultError>

  /// - Parameter asking: how to authenticate: with at most one touch and one passcode, if the context keeps evidence.
  package init(store: any VaultService, asking: Asking) { (self.store, self.asking) = (store, asking) }

  /// Passes each item with its secret to `body`, in the order of the ids, or the error that concerns it alone. The next
  /// secrets are read while `body` uses the previous ones.
  ///
  /// - Throws: errors of an authentication and of the store, and what `body` throws.
  package func read(
    _ ids: [ItemID], _ body: (Int, Result<ReleasedItem, VaultError>) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    var (place, count) = (0, Self.chunk)
    var running = request(ids, 0, count)
    while let call = running {
      running = nil
      switch await call.value {
      case .success(let released):
        guard (1...min(count, ids.count - place)).contains(released.count) else {
          throw .internalError("the vault released \(released.count) items")
        }
        let first = place
        (place, count) = (place + released.count, Self.chunk)
        running = request(ids, place, count)
        do throws(VaultError) {
          for (offset, item) in released.enumerated() { try await body(first + offset, .success(item)) }
        } catch {
          _ = await running?.value
          throw error
        }
      case .failure(let error):
        guard error.concernsOneItem else { throw error }
        if min(count, ids.count - place) > 1 {
          // One of the items cannot be read. Halve the range until only that item is left.
          count = min(count, ids.count - place) / 2
        } else {
          try await body(place, .failure(error))
          (place, count) = (place + 1, Self.chunk)
        }
        running = request(ids, place, count)
      }
    }
  }

  /// Requests the next secrets; nil after the last.
  private func request(_ ids: [ItemID], _ place: Int, _ count: Int) -> Task<Answer, Never>? {
    guard place < ids.count else { return nil }
    let (store, asking, wanted) = (store, asking, Array(ids[place...].prefix(count)))
    return Task(executorPreference: BackgroundThread.shared) {
      do throws(VaultError) {
        return .success(try await store.secrets(of: wanted, upTo: Self.size, asking))
      } catch {
        return .failure(error)
      }
    }
  }
}

extension VaultService {
  /// Releases a passkey's secret for another store or a file, as a ``MovingPasskey``, after the proof that its access
  /// control requires. Returns an error that concerns this passkey alone.
  func export(_ passkey: Item, _ asking: Asking) async throws(VaultError) -> Result<ReleasedItem, VaultError> {
    do throws(VaultError) {
      return .success(ReleasedItem(passkey, secret: try await useKey(passkey.id, .export, asking)))
    } catch {
      guard error.concernsOneItem else { throw error }
      return .failure(error)
    }
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
