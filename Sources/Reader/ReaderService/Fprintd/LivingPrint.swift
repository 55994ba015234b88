internal import Fingerprint

/// A print that the vault knows and fprintd still has.
struct LivingPrint: Sendable {
  let id: EnrolmentID
  let print: FprintdPrint

  /// The prints that still exist. To compare a print that has a digest, fprintd's files must be readable.
  ///
  /// - Parameter files: the folder of the files, for the error if they cannot be read.
  static func all(
    of prints: [EnrolledPrint], among now: [FprintdPrint], files: String
  ) throws(ReaderError) -> [LivingPrint] {
    var living: [LivingPrint] = []
    for enrolled in prints {
      guard let wanted = FprintdPrint(enrolled.template) else { throw .badTemplate }
      guard let there = now.first(where: { $0.finger == wanted.finger }) else { continue }
      if wanted.digest != nil, there.digest == nil {
        throw .fprintdFilesUnreadable(files)
      }
      if there.isStill(wanted) { living.append(LivingPrint(id: enrolled.id, print: wanted)) }
    }
    return living
  }

  /// The print that matched, by the finger that fprintd reported to look for. If it looked for any finger, fprintd does
  /// not report which one matched, and the first print is returned.
  static func matched(
    among living: [LivingPrint], _ selected: String?, asked finger: Finger?
  ) throws(ReaderError) -> EnrolmentID {
    guard let selected else { throw .device("fprintd does not say which finger it looked for") }
    if selected == FprintdNames.anyFinger, finger == nil, let first = living.first { return first.id }
    guard let named = Finger(fprintdName: selected), finger == nil || finger == named,
      let one = living.first(where: { $0.print.finger == named })
    else { throw .device("fprintd looked for another finger than it was asked to") }
    return one.id
  }
}
