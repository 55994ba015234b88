import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings

/// How `unlock` and `recover` accept a restore of files from an earlier copy: they list what was restored, and ask.
struct RestoreOptions: ParsableArguments {
  @Flag(help: "Accept an earlier copy that was put back, without being asked.")
  var acceptRestore = false

  /// Shows a detected restore and asks for confirmation; nil if there is none.
  func confirm(_ session: Session, _ answers: Answers) async throws(Failure) -> DetectedRestore? {
    let found = try await session.request { try await $0.detectedRestore() }
    guard let found else { return nil }
    for line in Self.lines(found) { StandardError.line(Visible.text(line)) }
    if !acceptRestore { try answers.confirm("Accept it?", assent: "--accept-restore") }
    return found
  }

  private static func lines(_ restore: DetectedRestore) -> [String] {
    var lines = ["An earlier copy of the store, or of a part of it, was put back. It has:"]
    if restore.sets.isEmpty { lines.append("  no fingers") }
    for set in restore.sets {
      let fingers = set.fingers.map(\.finger.spokenName).joined(separator: ", ")
      let fate = restore.fingersAreForgotten ? "; nothing proves whose they are: enrol them again" : ""
      lines.append("  fingers on \(set.reader.driver)\(Spoken.nature(set.nature)): \(fingers)\(fate)")
    }
    lines.append("  \(Spoken.plural(restore.items.count, "item"))\(restore.items.isEmpty ? "" : ":")")
    lines += restore.items.map { "    \($0)" }
    if !restore.lost.isEmpty {
      lines.append("\(Spoken.plural(restore.lost.count, "item")) bound to these fingers will be dead, for good:")
      lines += restore.lost.map { "    \($0)" }
    }
    if restore.acceptance == .recoveryKeyAndNewPasscode {
      lines.append("Its passcode cannot be checked: only the recovery key accepts the copy, and a new passcode is set.")
    }
    return lines
  }

  /// The effect of accepting the restore.
  static func outcome(_ restore: DetectedRestore) -> String {
    restore.fingersAreForgotten
      ? "the items are released again; 'whorl enroll' enrols the fingers" : "fingers are taken and items released again"
  }
}
