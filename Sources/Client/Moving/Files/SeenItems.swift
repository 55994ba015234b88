internal import SecretModel

/// The primary attributes of many items, of which only a hash of 128 bits each is in memory.
///
/// Two different items are taken for one with a probability of about 2^-95 among 100,000. Nobody who writes a file can
/// aim at that: the hash begins with random bytes.
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
