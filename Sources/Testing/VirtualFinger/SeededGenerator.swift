/// SplitMix64. It is small and fast and gives the same numbers on every machine and in every release, so that a seed
/// defines a finger.
///
/// Never use it for secrets.
struct SeededGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// Derives a separate generator for each purpose, so that drawing more numbers for one leaves the others unchanged.
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

  /// A uniform number in 0 ..< 1.
  mutating func unit() -> Float {
    Float(next() &>> 40) * 0x1p-24
  }

  /// A uniform number between the two bounds.
  mutating func between(_ low: Float, _ high: Float) -> Float {
    low + (high - low) * unit()
  }

  /// An approximately normal number with a standard deviation of 1 and within ±3: the scaled sum of four uniform
  /// numbers.
  mutating func normal() -> Float {
    let sum = unit() + unit() + unit() + unit() - 2
    return max(-3, min(3, sum * 1.732_050_8))
  }
}
