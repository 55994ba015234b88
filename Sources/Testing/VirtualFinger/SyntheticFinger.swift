// A synthetic finger and its impressions on a sensor.

internal import Glibc
package import Primitives
internal import Synchronization

/// A generated finger. The same person and finger always have the same ridges, on every machine.
package struct SyntheticFinger: Sendable {
  /// The person: any number.
  package let person: Int
  /// Which of the ten fingers.
  package let finger: Finger

  let ridges: GrownRidges
  let seed: UInt64

  private struct Name: Hashable {
    var person: Int
    var finger: Finger
  }

  /// Ridges that this process has generated. Generating them is slow and always gives the same result.
  private static let grown = Mutex<[Name: GrownRidges]>([:])

  /// Generates the finger, or reuses it if this process has generated it before.
  package init(person: Int, finger: Finger) {
    self.person = person
    self.finger = finger
    let number = UInt64(Finger.allCases.firstIndex(of: finger) ?? 0)
    seed = (UInt64(bitPattern: Int64(person)) &* 10) &+ number
    let name = Name(person: person, finger: finger)
    if let known = Self.grown.withLock({ $0[name] }) {
      ridges = known
      return
    }
    var random = SeededGenerator(1, seed)
    let isLeft = finger.rawValue.hasPrefix("left")
    // Most loops open towards the little finger. About one in twenty opens the other way.
    let opensLeft = isLeft != (random.unit() < 0.05)
    let pattern = RidgePattern(opensLeft: opensLeft, &random)
    // Generated outside the lock: two threads that need the same finger at the same time both generate it, with the
    // same result.
    let minutiae = Minutiae(&random, width: GrownRidges.width, height: GrownRidges.height)
    let made = GrownRidges(pattern: pattern, minutiae: minutiae)
    Self.grown.withLock { $0[name] = made }
    ridges = made
  }

  /// The image a sensor sees of one touch: 256×288 pixels at 500 dpi, dark ridges on white.
  ///
  /// Each number is another touch, with its own rotation, shift, distortion, pressure and noise. The same number always
  /// gives the same image.
  package func impression(_ number: UInt64) -> GrayImage {
    var random = SeededGenerator(2, seed, number)
    return Impression(&random).image(of: ridges)
  }
}

/// One touch: how the finger lies on the sensor, and what the sensor sees.
struct Impression {
  static let width = 256
  static let height = 288

  /// The rotation in radians.
  private let turn: Float
  /// The shift in pixels.
  private let shiftX: Float
  private let shiftY: Float
  /// Above 0, ridges are thicker and the print is larger.
  private let pressure: Float
  private let radiusX: Float
  private let radiusY: Float
  private let bendX: [Float]
  private let bendY: [Float]
  private let shadeX: [Float]
  private let shadeY: [Float]
  private let rimX: [Float]
  private let rimY: [Float]
  private let noiseSeed: UInt64

  init(_ random: inout SeededGenerator) {
    turn = random.normal() * 0.05
    shiftX = random.normal() * 4
    shiftY = random.normal() * 5
    pressure = random.normal() * 0.4
    radiusX = 118 + 5 * pressure + random.normal() * 2
    radiusY = 138 + 5 * pressure + random.normal() * 3
    // Skin is elastic, so the image is bent smoothly by a few pixels. The bend is the sum of one offset for each row
    // and one for each column.
    bendX = Self.wave(count: Self.height, height: random.normal() * 0.6, &random)
    bendY = Self.wave(count: Self.width, height: random.normal() * 0.6, &random)
    shadeX = Self.wave(count: Self.width, height: random.between(0, 0.18), &random)
    shadeY = Self.wave(count: Self.height, height: random.between(0, 0.18), &random)
    // The outline of the contact area differs with every touch.
    rimX = Self.wave(count: Self.width, height: 0.04, length: 45...110, &random)
    rimY = Self.wave(count: Self.height, height: 0.04, length: 45...110, &random)
    noiseSeed = random.next()
  }

  private static func wave(
    count: Int, height: Float, length: ClosedRange<Float> = 180...420, _ random: inout SeededGenerator
  ) -> [Float] {
    let number = 2 * Float.pi / random.between(length.lowerBound, length.upperBound)
    let phase = random.between(0, 2 * .pi)
    var wave = [Float](repeating: 0, count: count)
    var index = 0
    while index < count {
      wave[index] = height * sinf(Float(index) * number + phase)
      index += 1
    }
    return wave
  }

  func image(of ridges: GrownRidges) -> GrayImage {
    var pixels = [UInt8](repeating: 255, count: Self.width * Self.height)
    ridges.values.withUnsafeBufferPointer { ridges in
      pixels.withUnsafeMutableBufferPointer { pixels in
        // The buffers are valid during this closure, and no pointer leaves it.
        guard let ridges = ridges.baseAddress, let pixels = pixels.baseAddress else { return }
        var noise = SeededGenerator(seed: noiseSeed)
        var row = 0
        while row < Self.height {
          draw(row: row, of: ridges, into: pixels + row &* Self.width, &noise)
          row &+= 1
        }
      }
    }
    return GrayImage(width: Self.width, height: Self.height, pixels: pixels)
  }

  /// Plain loops over pointers, as in ``GrownRidges``, because tests run unoptimised.
  private func draw(
    row: Int, of ridges: UnsafePointer<Float>, into pixels: UnsafeMutablePointer<UInt8>,
    _ noise: inout SeededGenerator
  ) {
    let cosine = cosf(turn)
    let sine = sinf(turn)
    let dy = Float(row) - Float(Self.height) / 2 - shiftY
    let edgeY = dy * dy / (radiusY * radiusY)
    let middleX = Float(GrownRidges.width) / 2
    let middleY = Float(GrownRidges.height) / 2
    let lastX = Float(GrownRidges.width - 2)
    let lastY = Float(GrownRidges.height - 2)
    let stride = GrownRidges.width
    var bits: UInt64 = 0
    var column = 0
    while column < Self.width {
      let dx = Float(column) - Float(Self.width) / 2 - shiftX
      let edge = edgeY + dx * dx / (radiusX * radiusX) + rimX[column] + rimY[row]
      if column & 3 == 0 { bits = noise.next() }
      let grain = Float(bits & 0xffff) * 0x1p-15 - 1
      bits = bits &>> 16
      if edge < 1 {
        let x = middleX + cosine * dx + sine * dy + bendX[row]
        let y = middleY - sine * dx + cosine * dy + bendY[column]
        if x >= 0, y >= 0, x < lastX, y < lastY {
          let left = Int(x)
          let top = Int(y)
          let fx = x - Float(left)
          let fy = y - Float(top)
          let corner = ridges + (top &* stride &+ left)
          let upper = corner[0] + (corner[1] - corner[0]) * fx
          let lower = corner[stride] + (corner[stride &+ 1] - corner[stride]) * fx
          var ink = upper + (lower - upper) * fy
          ink += 0.25 * pressure + shadeX[column] + shadeY[row] + 0.2 * grain
          let dark = ink * 2.2
          let share = 0.5 + 0.5 * dark / (1 + abs(dark))
          // Ridges fade out at the edge. If they were cut off there, each would look like a ridge ending, on every
          // finger.
          let fade = min(1, (1 - edge) * 2)
          pixels[column] = UInt8(250 - 235 * fade * fade * max(0, min(1, share)))
        }
      }
      column &+= 1
    }
  }
}
