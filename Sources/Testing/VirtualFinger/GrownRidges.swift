internal import Glibc

/// The ridges of one whole fingertip. Every impression shows a part of them.
///
/// The ridges start as the waves of the pattern with the minutiae added. They are then filtered repeatedly with Gabor
/// filters along the local ridge direction. This connects broken ridges, and turns the phase singularities into the
/// endings and forks of real skin. The filtering works at half resolution, where a filter has 81 taps instead of 289
/// and each ridge still has more than four samples.
struct GrownRidges: Sendable {
  /// The width in pixels at 500 dpi. Larger than an impression, which may be rotated and shifted.
  static let width = 304
  /// The height, like ``width``.
  static let height = 344

  /// From -1 (furrow) to 1 (ridge), row by row.
  let values: [Float]

  private static let halfWidth = width / 2
  private static let halfHeight = height / 2
  private static let reach = 4
  private static let taps = (2 * reach + 1) * (2 * reach + 1)
  private static let directions = 36
  private static let periods = 12
  private static let shortestPeriod: Float = 6.6
  private static let longestPeriod: Float = 12
  private static let rounds = 5

  init(pattern: RidgePattern, minutiae: Minutiae) {
    let count = Self.halfWidth * Self.halfHeight
    var choice = [Int](repeating: -1, count: count)
    var current = [Float](repeating: 0, count: count)
    Self.layOut(pattern, minutiae, into: &current, choice: &choice)
    var next = [Float](repeating: 0, count: count)
    for _ in 0..<Self.rounds {
      Self.filter(from: current, into: &next, choice: choice)
      swap(&current, &next)
    }
    values = Self.doubled(current)
  }

  /// One filter for each direction and period, one after the other in memory.
  private static let kernels: [Float] = {
    var kernels: [Float] = []
    kernels.reserveCapacity(directions * periods * taps)
    for direction in 0..<directions {
      let angle = Float(direction) * .pi / Float(directions)
      // Rows count downwards, so y is negated.
      let acrossX = sinf(angle)
      let acrossY = cosf(angle)
      for period in 0..<periods {
        let length = (shortestPeriod + (longestPeriod - shortestPeriod) * Float(period) / Float(periods - 1)) / 2
        kernels += kernel(acrossX: acrossX, acrossY: acrossY, period: length)
      }
    }
    return kernels
  }()

  private static func kernel(acrossX: Float, acrossY: Float, period: Float) -> [Float] {
    var kernel = [Float](repeating: 0, count: taps)
    var envelope = [Float](repeating: 0, count: taps)
    var sum: Float = 0
    var weight: Float = 0
    var tap = 0
    for row in -reach...reach {
      for column in -reach...reach {
        let across = Float(column) * acrossX + Float(row) * acrossY
        let along = Float(column) * acrossY - Float(row) * acrossX
        let bell = expf(-(across * across / (2 * 1.7 * 1.7) + along * along / (2 * 1.9 * 1.9)))
        envelope[tap] = bell
        kernel[tap] = bell * cosf(2 * .pi * across / period)
        sum += kernel[tap]
        weight += bell
        tap += 1
      }
    }
    // Normalise: a flat area gives 0, and ridges of the filter's own period and direction give 1.
    var gain: Float = 0
    for tap in 0..<taps {
      kernel[tap] -= envelope[tap] * sum / weight
    }
    tap = 0
    for row in -reach...reach {
      for column in -reach...reach {
        gain += kernel[tap] * cosf(2 * .pi * (Float(column) * acrossX + Float(row) * acrossY) / period)
        tap += 1
      }
    }
    for tap in 0..<taps { kernel[tap] /= gain }
    return kernel
  }

  /// Computes each cell's initial value and the offset of its kernel.
  private static func layOut(
    _ pattern: RidgePattern, _ minutiae: Minutiae, into values: inout [Float], choice: inout [Int]
  ) {
    var row = reach
    while row < halfHeight - reach {
      var column = reach
      while column < halfWidth - reach {
        let point = RidgePattern.Point(x: Float(column * 2 - halfWidth), y: Float(halfHeight - row * 2))
        let sample = pattern.sample(at: point)
        let cell = row * halfWidth + column
        values[cell] = minutiae.cosine(of: sample.phase, at: point)
        // The ridge runs perpendicular to the gradient of the phase.
        let turns = atan2f(sample.slopeX, -sample.slopeY) / .pi
        let fraction = turns - floorf(turns)
        let direction = Int(fraction * Float(directions) + 0.5) % directions
        let distance = 2 * Float.pi / (sample.slopeX * sample.slopeX + sample.slopeY * sample.slopeY).squareRoot()
        let share = (distance - shortestPeriod) / (longestPeriod - shortestPeriod)
        let period = Int(max(0, min(1, share)) * Float(periods - 1) + 0.5)
        choice[cell] = (direction * periods + period) * taps
        column += 1
      }
      row += 1
    }
  }

  /// Filters the whole image once. Uses plain loops over pointers because nearly all the time is spent here, and tests
  /// run unoptimised.
  private static func filter(from source: [Float], into target: inout [Float], choice: [Int]) {
    let width = halfWidth
    let side = 2 * reach + 1
    let first = reach * width + reach
    source.withUnsafeBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        choice.withUnsafeBufferPointer { choice in
          kernels.withUnsafeBufferPointer { kernels in
            // The buffers are valid during this closure, and no pointer leaves it.
            guard let source = source.baseAddress, let target = target.baseAddress,
              let choice = choice.baseAddress, let kernels = kernels.baseAddress
            else { return }
            let count = halfWidth * halfHeight
            var cell = 0
            while cell < count {
              let start = choice[cell]
              if start >= 0 {
                var kernel = kernels + start
                var line = source + (cell &- first)
                var sum: Float = 0
                var row = 0
                while row < side {
                  // One line of the filter, unrolled: in an unoptimised build a loop costs more than its body.
                  let upper = kernel[0] * line[0] + kernel[1] * line[1] + kernel[2] * line[2]
                  let middle = kernel[3] * line[3] + kernel[4] * line[4] + kernel[5] * line[5]
                  let lower = kernel[6] * line[6] + kernel[7] * line[7] + kernel[8] * line[8]
                  sum += upper + middle + lower
                  kernel += 9
                  line += width
                  row &+= 1
                }
                // Amplify the result and compress it into the range -1 to 1.
                let response = sum * 3
                target[cell] = response / (1 + abs(response))
              }
              cell &+= 1
            }
          }
        }
      }
    }
  }

  /// Doubles the width and height by cubic interpolation.
  private static func doubled(_ cells: [Float]) -> [Float] {
    var wide = [Float](repeating: 0, count: width * halfHeight)
    var row = 0
    while row < halfHeight {
      let from = row * halfWidth
      let to = row * width
      var column = 2
      while column < halfWidth - 2 {
        wide[to + 2 * column] = cells[from + column]
        wide[to + 2 * column + 1] =
          (cells[from + column] + cells[from + column + 1]) * 0.5625
          - (cells[from + column - 1] + cells[from + column + 2]) * 0.0625
        column += 1
      }
      row += 1
    }
    var full = [Float](repeating: 0, count: width * height)
    row = 2
    while row < halfHeight - 2 {
      var column = 0
      while column < width {
        let above = wide[(row - 1) * width + column]
        let here = wide[row * width + column]
        let below = wide[(row + 1) * width + column]
        let further = wide[(row + 2) * width + column]
        full[2 * row * width + column] = here
        full[(2 * row + 1) * width + column] = (here + below) * 0.5625 - (above + further) * 0.0625
        column += 1
      }
      row += 1
    }
    return full
  }
}

/// The minutiae, where ridges end or fork. At each of these points the phase gains or loses a full turn.
///
/// They are placed at random with a minimum distance, and half of them gain a turn. All fingers therefore have about
/// the same number of minutiae, and two fingers share only as many as chance gives them.
struct Minutiae {
  private let places: [RidgePattern.Point]

  private static let count = 82
  /// The minimum distance in pixels. Closer minutiae cancel out while the ridges are filtered. With this spacing no
  /// print has too few minutiae to match.
  private static let spacing: Float = 24

  /// - Parameters:
  ///   - width: of the fingertip, in pixels.
  ///   - height: of the fingertip, in pixels.
  init(_ random: inout SeededGenerator, width: Int, height: Int) {
    var places: [RidgePattern.Point] = []
    var tries = 0
    while places.count < Self.count, tries < 4000 {
      tries += 1
      let place = RidgePattern.Point(
        x: random.between(-0.5, 0.5) * Float(width),
        y: random.between(-0.5, 0.5) * Float(height))
      let isFree = places.allSatisfy { other in
        let dx = other.x - place.x
        let dy = other.y - place.y
        return dx * dx + dy * dy > Self.spacing * Self.spacing
      }
      if isFree { places.append(place) }
    }
    self.places = places
  }

  /// The cosine of the phase with the turns of all minutiae added to it.
  func cosine(of phase: Float, at point: RidgePattern.Point) -> Float {
    var real = cosf(phase)
    var imaginary = sinf(phase)
    var sign: Float = 1
    places.withUnsafeBufferPointer { places in
      var index = 0
      let count = places.count
      while index < count {
        let dx = point.x - places[index].x
        let dy = (point.y - places[index].y) * sign
        let scale = 1 / (abs(dx) + abs(dy) + 0.001)
        let turned = (real * dx - imaginary * dy) * scale
        imaginary = (real * dy + imaginary * dx) * scale
        real = turned
        sign = -sign
        index &+= 1
      }
    }
    return real / ((real * real + imaginary * imaginary).squareRoot() + 1e-20)
  }
}
