package import Fingerprint

/// The fingers enrolled on one reader.
package struct SetStatus: Sendable {
  package var reader: ReaderIdentity
  package var nature: ReaderDescription.Nature
  package var fingers: [EnrolledFinger]
  /// SHA-256 over the set. It changes with every change of the set, and never returns to an earlier value.
  package var digest: [UInt8]
  /// Items bound to this set.
  package var boundItems: Int

  package init(
    reader: ReaderIdentity, nature: ReaderDescription.Nature, fingers: [EnrolledFinger], digest: [UInt8],
    boundItems: Int
  ) {
    self.reader = reader
    self.nature = nature
    self.fingers = fingers
    self.digest = digest
    self.boundItems = boundItems
  }
}

package struct EnrolledFinger: Sendable, Hashable {
  package var finger: Finger
  package var onChip: Bool
  /// Seconds since 1970.
  package var enrolled: Int64

  package init(finger: Finger, onChip: Bool, enrolled: Int64) {
    self.finger = finger
    self.onChip = onChip
    self.enrolled = enrolled
  }
}

/// What a change of the enrolment set did.
package struct SetChange: Sendable {
  package var finger: Finger?
  package var fingers: [EnrolledFinger]
  /// Items that died with the old set.
  package var lost: [ItemName]

  package init(finger: Finger?, fingers: [EnrolledFinger], lost: [ItemName]) {
    self.finger = finger
    self.fingers = fingers
    self.lost = lost
  }
}
