internal import SecretModel

/// Which items of another Secret Service and which items of the store are the same.
///
/// An item with the same attributes in the same collection is the same item. If there are several of them, as many count
/// as the same as both have, and labels tell which.
struct SecretServiceMatch: Sendable {
  private struct Identity: Hashable {
    let collection: String
    let attributes: [String: String]

    init(_ collection: String, _ attributes: [String: String]) {
      self.collection = collection
      self.attributes = SecretServiceItem.stored(attributes)
    }
  }

  /// The items of both: the index in the listing, and the store's item.
  private(set) var pairs: [(place: Int, item: SecretServiceItem)] = []
  /// The indexes of those that the store does not have, oldest first.
  private(set) var onlyThere: [Int] = []
  /// The items that the other service does not have.
  private(set) var onlyHere: [SecretServiceItem] = []

  init(_ peer: SecretServicePeer, _ items: [SecretServiceItem]) {
    var here: [Identity: [SecretServiceItem]] = [:]
    for item in items {
      here[Identity(item.collection, item.attributes), default: []].append(item)
    }
    // Oldest first, as they were made.
    let ordered = peer.listing.items.enumerated().sorted {
      ($0.element.created, $0.offset) < ($1.element.created, $1.offset)
    }
    var unmatched: [(Int, Identity)] = []
    for (place, item) in ordered {
      let identity = Identity(peer.names[item.collection], item.attributes)
      if let same = here[identity]?.firstIndex(where: { $0.label == item.label }),
        let item = here[identity]?.remove(at: same)
      {
        pairs.append((place, item))
      } else {
        unmatched.append((place, identity))
      }
    }
    for (place, identity) in unmatched {
      if let item = here[identity]?.popLast() { pairs.append((place, item)) } else { onlyThere.append(place) }
    }
    let left = Set(here.values.joined().map(\.id))
    onlyHere = items.filter { left.contains($0.id) }
  }
}
