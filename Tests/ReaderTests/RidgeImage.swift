import Glibc
import Testing

/// A picture of ridges with minutiae in known places: enough for the matcher, made in a millisecond.
///
/// The ridges are the waves of a phase that grows from the bottom; where the phase winds once around a point, a ridge
/// ends or forks there.
struct RidgeImage: Sendable {
  static let width = 256
  static let height = 288
  let pixels: [UInt8]

  /// Different seeds are different fingers.
  init(seed: UInt64) {
    var random = SplitMix(state: seed)
    var minutiae: [(x: Double, y: Double, turn: Double)] = []
    while minutiae.count < 28 {
      let x = Double.random(in: 40..<216, using: &random)
      let y = Double.random(in: 40..<248, using: &random)
      guard minutiae.allSatisfy({ hypot($0.x - x, $0.y - y) > 26 }) else { continue }
      minutiae.append((x, y, minutiae.count.isMultiple(of: 2) ? 1 : -1))
    }
    let tilt = Double.random(in: -0.4...0.4, using: &random)
    pixels = (0..<Self.width * Self.height).map { index in
      let x = Double(index % Self.width)
      let y = Double(index / Self.width)
      guard hypot((x - 128) / 118, (y - 144) / 134) < 1 else { return 255 }
      var phase = 2 * Double.pi / 9 * (y * cos(tilt) + x * sin(tilt))
      for (mx, my, turn) in minutiae { phase += turn * atan2(y - my, x - mx) }
      return UInt8(128 + 100 * cos(phase))
    }
  }

  /// As the virtual image reader takes it.
  var message: [UInt8] {
    withUnsafeBytes(of: (Int32(Self.width), Int32(Self.height))) { Array($0) } + pixels
  }
}

/// A small generator with a seed, so that a failure can be run again.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
