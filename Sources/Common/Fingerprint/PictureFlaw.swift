/// What is wrong with the picture of a finger.
package enum PictureFlaw: String, Sendable, CaseIterable, Codable {
  /// Fewer than ten minutiae: libfprint's matcher, NIST's bozorth3, computes no score for such a print
  /// (`MIN_COMPUTABLE_BOZORTH_MINUTIAE`).
  case tooFewMinutiae = "too-few-minutiae"
  /// Fewer than twenty minutiae: two touches of a finger rarely share enough of them.
  case fewMinutiae = "few-minutiae"
  /// More than 150 minutiae, the most that bozorth3 compares by default (`DEFAULT_BOZORTH_MINUTIAE`). A finger on a
  /// reader has fewer: most of these are noise, or dirt on the glass.
  case noise
  /// A contrast of less than 64: ridges and valleys are hard to tell apart.
  case lowContrast = "low-contrast"
}

/// A verdict on the picture of a finger.
package enum PictureQuality: String, Sendable, Codable {
  /// No flaw was found.
  case good
  /// It has flaws, but can be matched.
  case fair
  /// It cannot be matched.
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
