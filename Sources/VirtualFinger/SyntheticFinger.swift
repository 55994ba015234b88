package import Fingerprint
internal import Synchronization

/// A finger that exists as a number: the same person's same finger has the same ridges everywhere and always.
package struct SyntheticFinger: Sendable {
  /// Whose finger: any number.
  package let person: Int
  /// Which of the ten.
  package let finger: Finger

  let ridges: GrownRidges
  let seed: UInt64

  private struct Name: Hashable {
    var person: Int
    var finger: Finger
  }

  /// Growing is the dear part, and always gives the same, so a process does it once for each finger.
  private static let grown = Mutex<[Name: GrownRidges]>([:])

  /// Grows the finger, or takes it from those this process has grown already.
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
    // Most loops open towards the little finger; about one in twenty, the other way.
    let opensLeft = isLeft != (random.unit() < 0.05)
    let pattern = RidgePattern(opensLeft: opensLeft, &random)
    // Grown outside the lock: two threads that want one finger both grow it, to the same ridges.
    let made = GrownRidges(pattern: pattern, minutiae: Minutiae(&random))
    Self.grown.withLock { $0[name] = made }
    ridges = made
  }

  /// What a sensor sees of one touch: 256×288 pixels at 500 dpi, ridges dark on white.
  ///
  /// Each number gives another touch: turned, shifted, bent, pressed harder or softer, with noise of its own. The same
  /// number gives the same image.
  package func impression(_ number: UInt64) -> GrayImage {
    var random = SeededGenerator(2, seed, number)
    return Impression(&random).image(of: ridges)
  }
}
