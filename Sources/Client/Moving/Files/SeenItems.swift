internal import SecretModel

/// A set of primary attributes, of which only a hash of 128 bits each is in memory.
///
/// Among 100,000 items a collision has a probability of about 2^-95. Nobody can craft a file with collisions, since
/// random bytes are part of the hash.
struct SeenItems {
  private struct Mark: Hashable {
    var high: Int
    var low: Int
  }

  private let seeds = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
  private var marks: Set<Mark> = []

  func contains(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Bool {
    marks.contains(mark(itemClass, attributes))
  }

  /// Returns false if the item was already in the set.
  mutating func insert(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Bool {
    marks.insert(mark(itemClass, attributes)).inserted
  }

  private func mark(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Mark {
    let primary = PrimaryAttributes(of: itemClass, attributes)
    func hash(_ seed: UInt64) -> Int {
      var hasher = Hasher()
      hasher.combine(seed)
      hasher.combine(primary)
      return hasher.finalize()
    }
    return Mark(high: hash(seeds.0), low: hash(seeds.1))
  }
}
