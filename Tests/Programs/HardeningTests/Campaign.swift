import Glibc
import Synchronization

/// How much of an attack is carried out: a sample in every run, all of it in a campaign. The seed is printed, and
/// `WHORL_SEED` repeats a run.
enum Campaign {
  static let isLong = getenv("WHORL_CAMPAIGN") != nil

  /// A number for this run of the tests.
  static let seed: UInt64 = {
    let given = getenv("WHORL_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    print("hardening: WHORL_SEED=\(seed)")
    return seed
  }()

  static func count(short: Int, long: Int) -> Int { isLong ? long : short }

  /// All of them in a campaign, else a sample in their order.
  static func sample<Element>(_ all: [Element], short: Int, of what: String) -> [Element] {
    guard !isLong, all.count > short else { return all }
    var random = Generator(what)
    return all.indices.shuffled(using: &random).prefix(short).sorted().map { all[$0] }
  }

  /// SplitMix64, started by the seed and a name, so that one test's draws do not depend on another's.
  struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(_ name: String) {
      state = name.utf8.reduce(Campaign.seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
