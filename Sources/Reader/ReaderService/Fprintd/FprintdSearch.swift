internal import Fingerprint

/// What one scan looks for: prints that the vault knows and fprintd still has.
struct FprintdSearch: Sendable {
  /// A print that the vault knows and fprintd still has.
  struct Wanted: Sendable {
    let id: EnrolmentID
    let print: FprintdPrint
  }

  let prints: [Wanted]
  /// The finger that fprintd is asked for by its name; nil if it is asked for any of the user's fingers.
  let finger: Finger?
  /// Whether the user has no other finger in fprintd than the wanted ones.
  private let areAll: Bool

  /// - Parameters:
  ///   - prints: at least one.
  ///   - now: all fingers that the user has in fprintd.
  init(for prints: [Wanted], among now: [FprintdPrint]) throws(ReaderError) {
    guard let first = prints.first else { throw .notOnChip }
    self.prints = prints
    finger = prints.count == 1 ? first.print.finger : nil
    areAll = now.allSatisfy { one in prints.contains { $0.print.finger == one.finger } }
    // A search for any finger would also find one that is not wanted.
    guard finger != nil || areAll else { throw .device("fprintd has other fingers enrolled than those looked for") }
  }

  /// The wanted prints that still exist. To compare a print that has a digest, fprintd's files must be readable.
  ///
  /// - Parameter files: the folder of the files, for the error if they cannot be read.
  static func living(
    of prints: [EnrolledPrint], among now: [FprintdPrint], files: String
  ) throws(ReaderError) -> [Wanted] {
    var living: [Wanted] = []
    for enrolled in prints {
      guard let wanted = FprintdPrint(enrolled.template) else { throw .badTemplate }
      guard let there = now.first(where: { $0.finger == wanted.finger }) else { continue }
      if wanted.digest != nil, there.digest == nil {
        throw .fprintdFilesUnreadable(files)
      }
      if there.isStill(wanted) { living.append(Wanted(id: enrolled.id, print: wanted)) }
    }
    return living
  }

  /// The print that a match would be of, if fprintd looks for the finger of this name.
  ///
  /// fprintd does not report which finger matched. If it looks for any of the user's fingers, although one was asked
  /// for (open-fprintd always does), a match is of that one only if the user has no other. If any finger was asked
  /// for, the match counts as one of the first.
  ///
  /// - Throws: `looksForAnyFinger` if a match could be of a finger that was not asked for.
  func print(ifLookingFor name: String) throws(ReaderError) -> EnrolmentID {
    if name == FprintdNames.anyFinger {
      guard areAll else { throw .looksForAnyFinger }
      return prints[0].id
    }
    guard let named = Finger(fprintdName: name), finger == nil || finger == named,
      let one = prints.first(where: { $0.print.finger == named })
    else { throw .device("fprintd looks for another finger than it was asked for") }
    return one.id
  }
}
