internal import Glibc

/// The course of a finger's ridges: their direction and distance at every point.
///
/// The direction follows the zero-pole model (Sherlock and Monro): it turns by half a turn around each core and back
/// around each delta. Low waves bend it, because ridges grown over two unbent fields of one kind are similar enough
/// for the matcher to take one for the other.
struct RidgePattern {
  enum Kind {
    /// Ridges rise and fall; no core, no delta.
    case arch
    /// One core, one delta; the ridges leave on the side opposite the delta.
    case loop
    /// Two cores, two deltas.
    case whorl
  }

  /// A place, in pixels from the middle of the print, upwards and to the right.
  struct Point {
    var x: Float
    var y: Float
  }

  /// One low wave over the plane.
  private struct Wave {
    var kx: Float
    var ky: Float
    var phase: Float
    var height: Float

    init(height: Float, length: ClosedRange<Float>, _ random: inout SeededGenerator) {
      let number = 2 * Float.pi / random.between(length.lowerBound, length.upperBound)
      let heading = random.between(0, 2 * .pi)
      kx = number * cosf(heading)
      ky = number * sinf(heading)
      phase = random.between(0, 2 * .pi)
      self.height = height
    }

    func at(_ point: Point) -> Float {
      height * sinf(kx * point.x + ky * point.y + phase)
    }
  }

  let kind: Kind
  private var cores: [Point] = []
  private var deltas: [Point] = []
  private var archHeight: Float = 0
  private var archWidth: Float = 0
  private var archTop: Float = 0
  /// Where the first core's ridges leave, in radians.
  private var opening: Float = -.pi / 2
  private var hairpin: Float = 0
  private var hairpinReach: Float = 1
  private var bends: [Wave] = []
  private var stretches: [Wave] = []
  private var tilt: Float
  private let meanPeriod: Float

  /// - Parameter opensLeft: Where a loop's ridges leave; on most fingers towards the little finger.
  init(opensLeft: Bool, _ random: inout SeededGenerator) {
    let side: Float = opensLeft ? -1 : 1
    let draw = random.unit()
    kind = draw < 0.1 ? .arch : draw < 0.65 ? .loop : .whorl
    tilt = random.between(-0.12, 0.12)
    meanPeriod = random.between(8.3, 9.7)
    switch kind {
    case .arch:
      archHeight = random.between(0.7, 1.15)
      archWidth = random.between(170, 250)
      archTop = random.between(-30, 30)
    case .loop:
      cores = [Point(x: random.between(-18, 18), y: random.between(0, 45))]
      deltas = [
        Point(
          x: cores[0].x - side * random.between(45, 100),
          y: cores[0].y - random.between(70, 125))
      ]
      opening = -atan2f(cores[0].y - deltas[0].y, cores[0].x - deltas[0].x)
    case .whorl:
      let middle = Point(x: random.between(-15, 15), y: random.between(0, 35))
      let half = random.between(5, 24)
      let lean = random.between(-8, 8)
      cores = [Point(x: middle.x + lean, y: middle.y + half), Point(x: middle.x - lean, y: middle.y - half)]
      deltas = [
        Point(x: middle.x - random.between(60, 100), y: middle.y - random.between(65, 115)),
        Point(x: middle.x + random.between(60, 100), y: middle.y - random.between(65, 115)),
      ]
    }
    hairpin = random.between(0.15, 0.45)
    hairpinReach = random.between(60, 110)
    for _ in 0..<6 {
      let height = random.between(0.05, 0.25)
      bends.append(Wave(height: height, length: 90...350, &random))
    }
    for _ in 0..<3 {
      let height = random.between(0.03, 0.08)
      stretches.append(Wave(height: height, length: 120...300, &random))
    }
  }

  /// The direction along the ridges, in radians against the horizontal; modulo half a turn.
  func direction(at point: Point) -> Float {
    var angle = tilt
    for bend in bends { angle += bend.at(point) }
    switch kind {
    case .arch:
      // Flat at the foot, steepest on the flanks, flat again over the top.
      let along = max(-1, min(1, point.x / archWidth * 2))
      let rise = expf(-powf((point.y - archTop) / 85, 2))
      angle -= archHeight * rise * sinf(.pi * along)
    case .loop, .whorl:
      for core in cores {
        let dx = point.x - core.x
        let dy = point.y - core.y
        let around = atan2f(dy, dx)
        // The bare model opens a core like a tent; fingers turn in a hairpin, and then run straight.
        let near = expf(-(dx * dx + dy * dy) / (hairpinReach * hairpinReach))
        angle += 0.5 * around - hairpin * near * sinf(around - opening)
      }
      for delta in deltas { angle -= 0.5 * atan2f(point.y - delta.y, point.x - delta.x) }
    }
    return angle
  }

  /// The distance from ridge to ridge, in pixels.
  func period(at point: Point) -> Float {
    var factor: Float = 1
    for stretch in stretches { factor += stretch.at(point) }
    return meanPeriod * factor
  }
}
