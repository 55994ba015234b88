import GRDB
import Keys
package import Primitives

/// The fingers enrolled for a user on one reader, with the set's generation.
package struct EnrolmentSet: Equatable {
  package struct Enrolment: Equatable {
    package var id: EnrolmentID
    package var finger: Finger
    package var onChip: Bool
    /// SHA-256 of the template.
    package var templateDigest: [UInt8]
    /// Seconds since 1970.
    package var enrolled: Int64

    package init(id: EnrolmentID, finger: Finger, onChip: Bool, templateDigest: [UInt8], enrolled: Int64) {
      self.id = id
      self.finger = finger
      self.onChip = onChip
      self.templateDigest = templateDigest
      self.enrolled = enrolled
    }
  }

  /// Who allowed the fingers of this set to be used.
  package enum Admission: UInt64 {
    /// fprintd, whose fingers the set follows.
    case fprintd = 0
    /// The passcode, or the recovery key where no passcode is set.
    case passcode = 1
  }

  var owner: UInt32
  package var reader: ReaderIdentity
  /// Part of the reader's identity: a virtual or replayed reader differs from the physical one that it imitates.
  package var nature: ReaderDescription.Nature
  /// 16 random bytes, new at every change, so that items bound to an earlier set stay dead when the same fingers come
  /// back.
  package var generation: [UInt8]
  package var admission: Admission
  package var enrolments: [Enrolment]

  /// Whether the fingers may be used. Anybody who can write the configuration can choose a reader that is not physical,
  /// so its fingers need the passcode's approval.
  package var counts: Bool { nature == .physical || admission == .passcode }

  /// Refuses a set whose fingers may not be used.
  package func requireCounts() throws(VaultError) {
    guard counts else { throw .fingersNotAccepted(nature) }
  }

  /// The counterpart of `evaluatedPolicyDomainState`.
  func digest() -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "whorl enrolment set")
    part.append(tag: 2, UInt64(owner))
    part.append(tag: 3, Self.canonical(reader, nature))
    part.append(tag: 4, generation)
    part.append(tag: 9, admission.rawValue)
    for enrolment in enrolments.sorted(by: { $0.id.bytes.lexicographicallyPrecedes($1.id.bytes) }) {
      part.append(tag: 5, enrolment.id.bytes)
      part.append(tag: 6, enrolment.finger.rawValue)
      part.append(tag: 7, UInt64(enrolment.onChip ? 1 : 0))
      part.append(tag: 8, enrolment.templateDigest)
    }
    return Digest.sha256(part.bytes)
  }

  /// The identity of a reader as bytes.
  package static func canonical(_ reader: ReaderIdentity, _ nature: ReaderDescription.Nature) -> [UInt8] {
    var identity = CanonicalEncoding()
    identity.append(tag: 1, reader.driver)
    identity.append(tag: 2, optional: reader.vendor.map { UInt64($0) })
    identity.append(tag: 3, optional: reader.product.map { UInt64($0) })
    identity.append(tag: 4, optional: reader.serial)
    identity.append(tag: 5, optional: reader.fixedPort)
    identity.append(tag: 6, nature.rawValue)
    return identity.bytes
  }

  var record: [UInt8] {
    var record = CanonicalEncoding()
    record.append(tag: 1, UInt64(owner))
    record.append(tag: 2, Self.canonical(reader, nature))
    record.append(tag: 3, generation)
    record.append(tag: 9, admission.rawValue)
    for enrolment in enrolments {
      record.append(tag: 4, enrolment.id.bytes)
      record.append(tag: 5, enrolment.finger.rawValue)
      record.append(tag: 6, UInt64(enrolment.onChip ? 1 : 0))
      record.append(tag: 7, enrolment.templateDigest)
      record.append(tag: 8, UInt64(bitPattern: enrolment.enrolled))
    }
    return record.bytes
  }

  /// A set without fingers. Its generation is made when it is written.
  package init(owner: UInt32, reader: ReaderIdentity, nature: ReaderDescription.Nature, admission: Admission) {
    self.owner = owner
    self.reader = reader
    self.nature = nature
    self.admission = admission
    generation = []
    enrolments = []
  }

  init?(record bytes: [UInt8]) {
    do {
      var record = CanonicalDecoder(bytes)
      owner = UInt32(truncatingIfNeeded: try record.number(1))
      var identity = CanonicalDecoder(try record.bytes(2))
      reader = ReaderIdentity(
        driver: try identity.string(1), vendor: try identity.optionalNumber(2).map { UInt16(truncatingIfNeeded: $0) },
        product: try identity.optionalNumber(3).map { UInt16(truncatingIfNeeded: $0) },
        serial: try identity.optionalString(4), fixedPort: try identity.optionalString(5))
      guard let nature = ReaderDescription.Nature(rawValue: try identity.string(6)) else { return nil }
      self.nature = nature
      generation = try record.bytes(3)
      guard let admission = Admission(rawValue: try record.number(9)) else { return nil }
      self.admission = admission
      enrolments = []
      while !record.isAtEnd {
        let id = EnrolmentID(bytes: try record.bytes(4))
        guard let finger = Finger(rawValue: try record.string(5)) else { return nil }
        enrolments.append(
          Enrolment(
            id: id, finger: finger, onChip: try record.number(6) != 0, templateDigest: try record.bytes(7),
            enrolled: Int64(bitPattern: try record.number(8))))
      }
    } catch {
      return nil
    }
  }
}

extension StoreSnapshot {
  package func setStatuses() throws -> [SetStatus] {
    let counts = try Row.fetchAll(
      db, sql: "SELECT generation, count(*) FROM item WHERE generation IS NOT NULL AND dead = 0 GROUP BY generation")
    let bound = Dictionary(counts.map { ($0.bytes(0), $0[1] as Int) }, uniquingKeysWith: +)
    return try sets().map { stored in
      SetStatus(
        reader: stored.set.reader, nature: stored.set.nature, fingers: stored.set.enrolledFingers,
        digest: stored.digest, boundItems: bound[stored.set.generation] ?? 0)
    }
  }
}

extension EnrolmentSet {
  package var enrolledFingers: [EnrolledFinger] {
    enrolments.map { EnrolledFinger(finger: $0.finger, onChip: $0.onChip, enrolled: $0.enrolled) }
  }
}
