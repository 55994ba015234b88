package import Fingerprint
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
