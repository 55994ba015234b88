import ArgumentParser
import Fingerprint
import Primitives
import SecretModel
import Whorl

struct Fingers: Command {
  static let configuration = CommandConfiguration(
    commandName: "fingers",
    abstract: "List the enrolled fingers.",
    discussion: """
      Needs neither finger nor reader.

      Examples:
        whorl fingers
        whorl fingers --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let store = try await session.store()
    let sets = try await session.explained { () async throws(VaultError) in try await store.status().sets }
    if options.json { return try JSON.print(["sets": sets.map(SetReport.init)]) }
    if sets.allSatisfy(\.fingers.isEmpty) { StandardError.line("No finger is enrolled. Next: whorl enroll") }
    var table = Table()
    for set in sets {
      let reader = "\(set.reader.driver)\(Spoken.nature(set.nature))"
      for finger in set.fingers {
        table.add([
          finger.finger.rawValue, reader,
          set.reader.adapter == .fprintd
            ? "by fprintd" : finger.onChip ? "on chip" : "in the store",
          Spoken.time(finger.enrolled),
        ])
      }
    }
    try table.print(head: ["FINGER", "READER", "KEPT", "ENROLLED"])
  }
}

/// An enrolment set in JSON.
struct SetReport: Encodable {
  struct FingerReport: Encodable {
    var finger: String
    var onChip: Bool
    var enrolled: Int64
  }

  var reader: ReaderIdentity
  var nature: String
  var fingers: [FingerReport]
  var digest: String
  var boundItems: Int

  init(_ set: SetStatus) {
    reader = set.reader
    nature = set.nature.rawValue
    fingers = set.fingers.map { FingerReport(finger: $0.finger.rawValue, onChip: $0.onChip, enrolled: $0.enrolled) }
    digest = Hexadecimal.text(of: set.digest)
    boundItems = set.boundItems
  }
}
