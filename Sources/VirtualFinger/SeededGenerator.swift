/// SplitMix64: small, fast, and the same on every machine and in every release, so that a finger is its seed.
///
/// Never for secrets.
struct SeededGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// A seed for each purpose, so that drawing one number more for one of them leaves the others as they were.
  init(_ parts: UInt64...) {
    state = 0x57_686f_726c
    var index = 0
    while index < parts.count {
      state = next() ^ parts[index]
      index += 1
    }
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed &>> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed &>> 31)
  }

  /// Evenly in 0 ..< 1.
  mutating func unit() -> Float {
    Float(next() &>> 40) * 0x1p-24
  }

  /// Evenly between the two bounds.
  mutating func between(_ low: Float, _ high: Float) -> Float {
    low + (high - low) * unit()
  }

  /// Near zero mostly, never beyond ±3: the sum of four even draws, scaled to a standard deviation of 1.
  mutating func normal() -> Float {
    let sum = unit() + unit() + unit() + unit() - 2
    return max(-3, min(3, sum * 1.732_050_8))
  }
}
