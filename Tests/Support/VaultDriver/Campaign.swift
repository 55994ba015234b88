import Glibc
import Synchronization

/// The extent of an attack: a sample in ordinary runs, everything in a campaign. The seed is printed, and `WHORL_SEED`
/// repeats a run.
package enum Campaign {
  package static let isLong = getenv("WHORL_CAMPAIGN") != nil

  /// A number for this run of the tests.
  package static let seed: UInt64 = {
    let given = getenv("WHORL_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    print("campaign: WHORL_SEED=\(seed)")
    return seed
  }()

  package static func count(short: Int, long: Int) -> Int { isLong ? long : short }

  /// A sample, in order; in a campaign all elements, up to a limit.
  ///
  /// - Parameter long: the limit in a campaign, for thousands of elements that take seconds each.
  package static func sample<Element>(_ all: [Element], short: Int, long: Int = .max, of what: String) -> [Element] {
    let count = count(short: short, long: long)
    guard all.count > count else { return all }
    var random = Generator(what)
    return all.indices.shuffled(using: &random).prefix(count).sorted().map { all[$0] }
  }

  /// SplitMix64, started by the seed and a name, so that one test's draws do not depend on another's.
  package struct Generator: RandomNumberGenerator {
    private var state: UInt64

    package init(_ name: String, seed: UInt64 = Campaign.seed) {
      state = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    package mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
