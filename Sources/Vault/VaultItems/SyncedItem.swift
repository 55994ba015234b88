import Presence
import Primitives
import SecretModel
import VaultStore
import VaultSync

/// An item of the circle that is to be stored here.
struct SyncedItem {
  /// Whether it was stored.
  enum Outcome {
    case stored(id: [UInt8])
    case waiting(SyncStatus.Waiting.Reason)
  }

  private let item: NewItem
  private let record: ItemRecord
  private let revision: Revision

  init(_ item: NewItem, _ record: ItemRecord, _ revision: Revision) {
    (self.item, self.record, self.revision) = (item, record, revision)
  }

  /// Stores the item in the place of its earlier version.
  ///
  /// - Parameters:
  ///   - writer: one without a journal.
  ///   - keys: what opens its secret.
  ///   - earlier: the id of the earlier version; nil if there is none. Another item with the same primary attributes,
  ///     which was never shared, is not replaced.
  ///   - set: the fingers to bind it to, if they were just touched.
  func store(
    _ writer: ItemWriter, with keys: SecretKeys, over earlier: [UInt8]?, boundTo set: StoredSet? = nil
  ) throws -> Outcome {
    guard record.itemClass != .passkey || item.isPasskey else { return .waiting(.refused) }
    var protection = ItemProtection(access: item.access, accessibility: item.accessibility)
    protection.bound = set
    guard set != nil || !protection.requirement.mentions(.boundFinger) else { return .waiting(.touch) }
    do {
      if let there = try writer.change.item(like: record), !there.dead, there.id != earlier { return .waiting(.touch) }
      let hidden: HiddenSecret
      do throws(SecretObstacle) { hidden = try revision.secret(with: keys) } catch { return .waiting(error.reason) }
      let stored = try writer.insert(record, protection, secret: hidden.secret.bytes, replacing: true)
      return .stored(id: stored.id.bytes)
    } catch let error as VaultError {
      switch error {
      case .notUnlocked: return .waiting(.locked)
      case .passcodeNotSet: return .waiting(.passcode)
      case .itemDamaged, .passkeysFull, .invalidRequest: return .waiting(.refused)
      default: throw error
      }
    }
  }
}

extension NewItem {
  fileprivate var isPasskey: Bool {
    let passkey = Passkey(
      Item(
        id: ItemID(bytes: []), state: .living, itemClass: itemClass, attributes: attributes, access: access,
        accessibility: accessibility, created: 0, modified: 0))
    return (try? passkey?.check()) != nil
  }
}
