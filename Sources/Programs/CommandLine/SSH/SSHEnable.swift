import ArgumentParser
import CommandBase
import Glibc
internal import Prompts
import Settings

struct SSHEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Make whorl-agent the SSH agent of your sessions.",
    discussion: """
      Has your service manager listen at $XDG_RUNTIME_DIR/whorl-agent, now and in every session, and name that socket \
      in SSH_AUTH_SOCK. A desktop and the programs that it starts keep the agent that they have until the next login. \
      The agent that SSH_AUTH_SOCK names now keeps its keys: whorl-agent hands them on, unless its socket is one that \
      the next session does not have. --other-agent names another one. Where GNOME Keyring has an SSH agent of its \
      own, which would name its socket to the desktop, a file of yours keeps it from starting. The agent that XFCE starts \
      is turned off in XFCE's settings. whorl-agent \
      gets the --store, --reader and --config of this command.

      Examples:
        whorl ssh enable
        whorl ssh enable --dry-run
        whorl ssh enable --other-agent $XDG_RUNTIME_DIR/openssh_agent
      """)

  static let spoken = "ssh enable"

  @OptionGroup var options: GlobalOptions

  @Option(help: ArgumentHelp("The socket of the agent that has your other keys.", valueName: "path"))
  var otherAgent: String?

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Without a store the agent would have no keys.
    _ = try await session.openStore()
    let files = try SSHAgentFiles()
    guard files.socket.isInstalled, files.service.isInstalled else { throw SSHAgentFiles.missing }
    // If no other agent was found, keep the one chosen earlier: `SSH_AUTH_SOCK` may already name whorl-agent.
    let other = try other() ?? files.namedOtherAgent
    let command = try files.command(otherAgent: other, try ServiceOptions(session.named))
    let wanted = [command, files.keyring].compactMap { $0 }
    for file in [files.command] + wanted { try file.requireOwn() }
    let obsolete = command == nil && files.command.ownLines != nil ? [files.command] : []
    var report = Report(
      dryRun: dryRun, unit: files.socket.name, otherAgent: other,
      written: wanted.filter { $0.state != .current }.map(\.path), removed: obsolete.map(\.path))
    let xfce = XFCEAgent()
    defer { xfce?.close() }
    report.turnsOffXFCEsAgent = await xfce?.state() == .on
    if !dryRun {
      _ = try wanted.write()
      for file in obsolete { _ = try file.remove() }
      let manager = ServiceManager(hardening)
      try manager.reload()
      // The service may be running with an earlier command line.
      try manager.restart(files.service)
      try manager.enable(files.socket)
      report.turnsOffXFCEsAgent = await xfce?.turnOff() == true
    }
    if options.json { return try JSON.print(report) }
    tell(report, hidesKeyring: files.keyring != nil)
  }

  private func other() throws(Failure) -> String? {
    guard let otherAgent else { return SSHAgentFiles.usualOtherAgent }
    guard otherAgent.hasPrefix("/"), UnitWord.isLine(otherAgent) else {
      throw .usage(
        "--other-agent is the full path of a socket, without control characters",
        advice: "such as $XDG_RUNTIME_DIR/openssh_agent")
    }
    return otherAgent
  }

  private func tell(_ report: Report, hidesKeyring: Bool) {
    for path in report.written { StandardError.line("\(dryRun ? "Would write" : "Wrote") \(Visible.text(path))") }
    for path in report.removed { StandardError.line("\(dryRun ? "Would remove" : "Removed") \(Visible.text(path))") }
    if let other = report.otherAgent {
      StandardError.line("Other keys stay with the agent at \(Visible.text(other)).")
      if hidesKeyring, SSHAgentFiles.isKeyrings(other) {
        StandardError.line(
          "That is GNOME Keyring's, which your next login does not start; ssh itself reads the keys in ~/.ssh then.")
      }
    }
    if report.turnsOffXFCEsAgent {
      StandardError.line(
        dryRun
          ? "Would turn off the agent that XFCE starts, which would take the place of this one."
          : "Turned off the agent that XFCE starts, which would take the place of this one, from your next login on.")
    }
    if dryRun {
      StandardError.line("Would enable \(report.unit).")
    } else {
      StandardError.line(
        "Programs of your desktop find it from your next login on, services at once, and a terminal that is open with:")
      StandardError.line("  export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/whorl-agent")
      StandardError.line("'whorl ssh disable' takes it back.")
    }
  }

  private struct Report: Encodable {
    var dryRun: Bool
    var unit: String
    /// The agent that has the other keys.
    var otherAgent: String?
    /// The files that were written, or would be.
    var written: [String]
    /// The files of an earlier `enable` that were removed, or would be.
    var removed: [String]
    /// Whether the agent that XFCE starts was turned off, or would be.
    var turnsOffXFCEsAgent = false
  }
}

struct SSHDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Give ssh its earlier agent again.",
    discussion: """
      Ends whorl-agent, now and in later sessions, and removes the files that 'whorl ssh enable' has written. Your \
      service manager names the agent that had your other keys in SSH_AUTH_SOCK again, where that one still listens. \
      Programs that have the name of whorl-agent's socket, and what they start, keep it until they end: a desktop \
      until your next login. The keys stay in the store.

      Examples:
        whorl ssh disable
      """)

  static let spoken = "ssh disable"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let files = try SSHAgentFiles()
    // Read before the files are removed, since one of them has it.
    let other = files.namedOtherAgent.flatMap { Self.isSocket($0) ? $0 : nil }
    let xfce = XFCEAgent()
    defer { xfce?.close() }
    let turnsOn = await xfce?.turnOn() == true
    var removed: [String] = []
    for file in files.all where try file.remove() { removed.append(file.path) }
    if files.socket.isInstalled {
      let manager = ServiceManager(hardening)
      if !removed.isEmpty { try manager.reload() }
      try manager.disable([files.socket, files.service])
      // The socket's unit removed the variable when it stopped.
      if let other { try manager.setEnvironment("SSH_AUTH_SOCK", to: other) }
    }
    if options.json { return try JSON.print(Report(removed: removed, otherAgent: other)) }
    for path in removed { StandardError.line("Removed \(Visible.text(path))") }
    if turnsOn { StandardError.line("XFCE starts an agent of its own again from your next login on.") }
    if let other {
      StandardError.line(
        "ssh has the agent at \(Visible.text(other)) again: services at once, your desktop from your next login on.")
    } else {
      StandardError.line("ssh has its agent from before again from your next login on.")
    }
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private struct Report: Encodable {
    /// The files that were removed.
    var removed: [String]
    /// The socket of the agent that services have again.
    var otherAgent: String?
  }
}
