internal import Glibc

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
