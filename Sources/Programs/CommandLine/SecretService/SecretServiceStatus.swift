import ArgumentParser
import CommandBase
internal import Moving
internal import Prompts
import Settings
import Whorl

struct SecretServiceStatus: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show which program is the Secret Service.",
    discussion: """
      Which program has that part in this session, whether Whorl is to have it, and the files that say so. Starts no \
      program, and needs no store.

      Examples:
        whorl secret-service status
        whorl secret-service status --json
      """)

  static let spoken = "secret-service status"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let files = try SecretServiceFiles()
    // Without a bus nobody has the name.
    let holder = try? await SecretServiceHolderReport.current()
    let chosen = files.writtenOptions
    let wanted = files.wanted(agent: try SecretServiceFiles.agent(), chosen)
    let states = wanted.map { File(path: $0.path, state: $0.state) }
    let report = Report(
      enabled: files.isEnabled, options: chosen.words, holder: holder, unitInstalled: files.unit.isInstalled,
      files: states,
      portalLine: files.portalLine)
    if options.json { return try JSON.print(report) }
    try StandardOutput.line("service  \(Visible.text(holder?.words ?? "no program"))")
    try StandardOutput.line(
      "enabled  \(report.enabled ? "yes" : "no: 'whorl secret-service enable' makes Whorl the service")")
    if !chosen.isEmpty {
      try StandardOutput.line("options  \(Visible.text(chosen.words.joined(separator: " ")))")
    }
    for file in states { try StandardOutput.line("file     \(Visible.text(file.path)): \(file.words)") }
    if report.holder?.own == true, let program = try MissedFiles.changedProgram(session) {
      try StandardOutput.line(
        "missed   \(program) has changed since its passwords were copied: 'whorl secret-service import' brings in what is "
          + "new")
    }
    if report.enabled, let line = report.portalLine {
      try StandardOutput.line("portal   \(Visible.text(files.portalChoice)) does not have the line \(line)")
    }
  }

  private struct File: Encodable {
    var path: String
    var state: MarkedFile.State

    var words: String {
      switch state {
      case .missing: "not there"
      case .current: "Whorl's"
      case .outdated: "Whorl's, of another version: 'whorl secret-service enable' writes it anew"
      case .foreign: "not Whorl's"
      }
    }
  }

  private struct Report: Encodable {
    var enabled: Bool
    /// The options of the service.
    var options: [String]
    var holder: SecretServiceHolderReport?
    var unitInstalled: Bool
    var files: [File]
    var portalLine: String?
  }
}
