/// What is wrong with the picture of a finger.
package enum PictureFlaw: String, Sendable, CaseIterable, Codable {
  /// libfprint's matcher, NIST's bozorth3, gives no score at all to a print with fewer than ten minutiae
  /// (`MIN_COMPUTABLE_BOZORTH_MINUTIAE`).
  case tooFewMinutiae = "too-few-minutiae"
  /// Fewer than twenty minutiae: two touches of a finger seldom show the same half.
  case fewMinutiae = "few-minutiae"
  /// More than 150 minutiae, which is as many as bozorth3 compares unless it is told otherwise
  /// (`DEFAULT_BOZORTH_MINUTIAE`). No finger has so many on a reader: most of these are noise, or dirt on the glass.
  case noise
  /// A contrast of less than 64: ridges and valleys are hard to tell apart.
  case lowContrast = "low-contrast"
}

/// A verdict on the picture of a finger.
package enum PictureQuality: String, Sendable, Codable {
  /// No flaw was found.
  case good
  /// There are flaws, and it can be matched.
  case fair
  /// The matcher can do nothing with it.
  case poor
}

extension FingerPicture {
  package var flaws: [PictureFlaw] {
    var flaws: [PictureFlaw] = []
    if minutiae < 10 { flaws.append(.tooFewMinutiae) } else if minutiae < 20 { flaws.append(.fewMinutiae) }
    if minutiae > 150 { flaws.append(.noise) }
    if contrast < 64 { flaws.append(.lowContrast) }
    return flaws
  }

  package var quality: PictureQuality {
    let flaws = flaws
    return flaws.isEmpty ? .good : flaws.contains(.tooFewMinutiae) ? .poor : .fair
  }
}
