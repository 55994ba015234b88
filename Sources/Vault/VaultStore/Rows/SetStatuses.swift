import Fingerprint
import GRDB

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
