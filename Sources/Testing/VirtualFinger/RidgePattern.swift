internal import Glibc

/// The flow of a finger's ridges without endings and forks, as a phase that rises by one turn from ridge to ridge.
///
/// The ridges surround a line (loop) or a short segment (whorl), or run over a hump (arch), in a plane that is
/// distorted by low waves. In a pattern like this no ridge has to begin or end, so every ending and fork is one of the
/// finger's ``Minutiae``. If only the ridge directions were given, ridges would have to begin wherever the directions
/// diverge. The real matcher then confused two fingers of one kind.
struct RidgePattern {
  /// A point, in pixels from the centre of the print, to the right and upwards.
  struct Point {
    var x: Float
    var y: Float
  }

  /// The phase at a point and its gradient per pixel, to the right and upwards.
  struct Sample {
    var phase: Float
    var slopeX: Float
    var slopeY: Float
  }

  private enum Course {
    /// Ridges around a line that begins at the core and leaves the print in the direction of `heading`.
    case loop(core: Point, heading: Point)
    /// Ridges around a segment of the given half length. `spin` is 1 or -1 for spirals, which move outwards by one
    /// ridge in each round, and 0 for closed rings.
    case whorl(core: Point, heading: Point, half: Float, spin: Float)
    /// Ridges over a hump.
    case arch(middle: Float, height: Float, width: Float)
  }

  /// A low wave that distorts the plane.
  private struct Bend {
    var shiftX: Float
    var shiftY: Float
    var kx: Float
    var ky: Float
    var phase: Float
  }

  private let course: Course
  private let density: Float
  private let start: Float
  private let squeeze: Float
  private var bends: [Bend] = []

  /// - Parameter opensLeft: Whether a loop opens to the left. Most loops open towards the little finger.
  init(opensLeft: Bool, _ random: inout SeededGenerator) {
    density = 2 * .pi / random.between(8.3, 9.7)
    start = random.between(0, 2 * .pi)
    squeeze = random.between(0.85, 1)
    let draw = random.unit()
    let core = Point(x: random.between(-20, 20), y: random.between(-5, 40))
    if draw < 0.1 {
      course = .arch(
        middle: random.between(-20, 20), height: random.between(40, 75), width: random.between(45, 65))
    } else if draw < 0.65 {
      let fall = random.between(0.55, 1.3)
      course = .loop(core: core, heading: Point(x: cosf(fall) * (opensLeft ? -1 : 1), y: -sinf(fall)))
    } else {
      let lean = random.between(-0.6, 0.6)
      let spin = Float(Int(random.between(0, 3))) - 1
      course = .whorl(
        core: core, heading: Point(x: sinf(lean), y: cosf(lean)), half: random.between(4, 30), spin: spin)
    }
    for _ in 0..<6 {
      let number = 2 * Float.pi / random.between(110, 350)
      let heading = random.between(0, 2 * .pi)
      let towards = random.between(0, 2 * .pi)
      let shift = random.between(0.036, 0.12) / number
      bends.append(
        Bend(
          shiftX: shift * cosf(towards), shiftY: shift * sinf(towards), kx: number * cosf(heading),
          ky: number * sinf(heading), phase: random.between(0, 2 * .pi)))
    }
  }

  func sample(at point: Point) -> Sample {
    // The distorted point and its derivatives.
    var x = point.x
    var y = point.y
    var xx: Float = 1
    var xy: Float = 0
    var yx: Float = 0
    var yy: Float = 1
    for bend in bends {
      let angle = bend.kx * point.x + bend.ky * point.y + bend.phase
      let height = sinf(angle)
      let slope = cosf(angle)
      x += bend.shiftX * height
      y += bend.shiftY * height
      xx += bend.shiftX * slope * bend.kx
      xy += bend.shiftX * slope * bend.ky
      yx += bend.shiftY * slope * bend.kx
      yy += bend.shiftY * slope * bend.ky
    }
    let plain = straight(x, y)
    return Sample(
      phase: plain.phase + start, slopeX: plain.slopeX * xx + plain.slopeY * yx,
      slopeY: plain.slopeX * xy + plain.slopeY * yy)
  }

  /// The phase in the undistorted plane.
  private func straight(_ x: Float, _ y: Float) -> Sample {
    switch course {
    case .arch(let middle, let height, let width):
      let dx = x - middle
      let hump = height * expf(-dx * dx / (2 * width * width))
      // Ridges bend more the higher they lie.
      let growth = 1 + y / 300
      return Sample(
        phase: density * (y - hump * growth), slopeX: density * hump * growth * dx / (width * width),
        slopeY: density * (1 - hump / 300))
    case .loop(let core, let heading):
      return distance(x - core.x, y - core.y, heading: heading, from: 0, to: .infinity)
    case .whorl(let core, let heading, let half, let spin):
      let dx = x - core.x
      let dy = y - core.y
      var sample = distance(dx, dy, heading: heading, from: -half, to: half)
      let square = max(1, dx * dx + dy * dy)
      sample.phase += spin * atan2f(dy, dx)
      sample.slopeX -= spin * dy / square
      sample.slopeY += spin * dx / square
      return sample
    }
  }

  /// The distance to a segment of the line through the origin.
  private func distance(_ x: Float, _ y: Float, heading: Point, from: Float, to: Float) -> Sample {
    let along = (x * heading.x + y * heading.y)
    let nearest = max(from, min(to, along))
    var dx = (x - nearest * heading.x) * squeeze
    let dy = y - nearest * heading.y
    let length = max(0.01, (dx * dx + dy * dy).squareRoot())
    let phase = density * length
    dx *= squeeze
    return Sample(phase: phase, slopeX: density * dx / length, slopeY: density * dy / length)
  }
}

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
