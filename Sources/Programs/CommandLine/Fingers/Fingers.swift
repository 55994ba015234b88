import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings

struct Fingers: Command {
  static let configuration = CommandConfiguration(
    commandName: "fingers",
    abstract: "List the enrolled fingers.",
    discussion: """
      Needs no finger. Those of fprintd, which the desktop's settings enrol, are looked up where the store uses fprintd.

      Examples:
        whorl fingers
        whorl fingers --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let status = try await session.request { try await $0.status() }
    let look = status.adapter?.sharesFingers == false ? nil : try await FingerLook(session)
    let sets = (look?.status ?? status).sets
    if options.json { return try JSON.print(["sets": sets.map(SetReport.init)]) }
    if sets.allSatisfy(\.fingers.isEmpty) {
      let (words, advice) = look.map { ($0.absence.words, $0.advice) } ?? ("none enrolled", "'whorl enroll' enrols one")
      StandardError.line("Fingers: \(Visible.text(words)). \(advice).")
    }
    var table = Table()
    for set in sets {
      let reader = "\(set.reader.driver)\(Spoken.nature(set.nature))"
      for finger in set.fingers {
        table.add([
          finger.finger.rawValue, reader,
          set.reader.adapter.sharesFingers
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
