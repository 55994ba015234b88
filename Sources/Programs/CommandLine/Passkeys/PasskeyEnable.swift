import ArgumentParser
import CommandBase
import Glibc
internal import Prompts
import SecretModel
import Settings

struct PasskeyEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Offer passkeys to your browser and other programs.",
    discussion: """
      From now on and in every session, programs find a security key with the name Whorl: browsers on sites with \
      passkeys, ssh-keygen -t ecdsa-sk, and others that take FIDO2. It is there while your session is in front of the \
      screen and unlocked. Every program of yours can ask it; the prompt names the site that the program says. \
      'whorl passkey disable' takes it away, and the passkeys stay.

      With --access current-set, passkeys that are made from now on are lost when a finger is added or replaced; with \
      presence, the passcode is enough in place of a finger.

      Examples:
        whorl passkey enable
        whorl passkey enable --access presence
        whorl passkey enable --dry-run
      """)

  static let spoken = "passkey enable"

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp(
      "The rule of new passkeys: any-finger, current-set or presence.", valueName: "rule"))
  var access = AccessControl.Constraint.anyFinger

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  func validate() throws {
    guard Passkey.accessControls.contains(AccessControl(access)) else {
      throw ValidationError("--access is any-finger, current-set or presence: a passkey always needs a person.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    _ = try await session.openStore()
    let files = try PasskeyFiles()
    guard files.service.isInstalled else { throw PasskeyFiles.missing }
    guard Glibc.access(PasskeyFiles.deviceSocket, F_OK) == 0 else {
      throw Failure(
        .unavailable,
        "this computer cannot offer a security key in software: /dev/uhid is missing, or whorl-fido.socket is not running",
        advice: "'sudo modprobe uhid' and 'sudo systemctl enable --now whorl-fido.socket'")
    }
    let command = try files.command(access: access, try ServiceOptions(session.named))
    for file in [files.command] + [command].compactMap({ $0 }) { try file.requireOwn() }
    let removed = command == nil && files.command.ownLines != nil ? [files.command] : []
    let written = [command].compactMap { $0 }.filter { $0.state != .current }
    let report = Report(
      dryRun: dryRun, unit: files.service.name, written: written.map(\.path), removed: removed.map(\.path))
    if !dryRun {
      _ = try written.write()
      for file in removed { _ = try file.remove() }
      let manager = ServiceManager(hardening)
      try manager.reload()
      // The service may be running with an earlier command line.
      try manager.restart(files.service)
      try manager.enable(files.service)
    }
    if options.json { return try JSON.print(report) }
    for path in report.written { StandardError.line("\(dryRun ? "Would write" : "Wrote") \(Visible.text(path))") }
    for path in report.removed { StandardError.line("\(dryRun ? "Would remove" : "Removed") \(Visible.text(path))") }
    guard !dryRun else { return StandardError.line("Would enable \(report.unit).") }
    StandardError.line("Whorl is a security key now. On a site, choose \"security key\" or \"passkey\".")
    StandardError.line("'whorl passkey disable' takes it back.")
  }

  private struct Report: Encodable {
    var dryRun: Bool
    var unit: String
    /// The files that were written, or would be.
    var written: [String]
    /// The files of an earlier `enable` that were removed, or would be.
    var removed: [String]
  }
}

struct PasskeyDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Offer passkeys no longer.",
    discussion: """
      Takes the security key away from the programs of your session, now and later. The passkeys stay in the store; \
      'whorl passkey enable' offers them again.

      Examples:
        whorl passkey disable
      """)

  static let spoken = "passkey disable"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let files = try PasskeyFiles()
    let removed = try files.command.remove() ? [files.command.path] : []
    if files.service.isInstalled {
      let manager = ServiceManager(hardening)
      if !removed.isEmpty { try manager.reload() }
      try manager.disable([files.service])
    }
    if options.json { return try JSON.print(["removed": removed]) }
    for path in removed { StandardError.line("Removed \(Visible.text(path))") }
    StandardError.line("Whorl is no longer a security key. Your passkeys stay in the store.")
  }
}
