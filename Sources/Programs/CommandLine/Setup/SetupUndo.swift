import Processes
internal import PromptTexts
import SecretModel
internal import TerminalLines

/// `whorl setup --undo`: undoes the steps in reverse order, and finally removes the store with everything in it.
struct SetupUndo {
  let survey: SetupSurvey
  let hardening: Hardening
  /// Whether to skip the prompts. The store is then kept.
  let isAgreed: Bool

  private static let steps: [SetupStep] = [.sync, .git, .ssh, .passkeys, .secrets, .kwallet, .keyring, .login]

  func run() async throws(Failure) {
    let findings = try await survey.findings()
    let done = Self.steps.compactMap { step in
      findings.first { $0.step == step && $0.state == .done && $0.undo != nil }
    }
    if !done.isEmpty {
      StandardError.line("This takes back, one after the other:")
      for line in done.flatMap(\.wayBackLines) { StandardError.line(Visible.text(line)) }
      if !isAgreed { try survey.session.answers().confirm("Go on?", assent: "--yes") }
    }
    var failed: [[String]] = []
    for command in done.compactMap(\.undo) {
      StandardError.line(Visible.text("> \(ShellLine.text(command))"))
      let status = ChosenCommand(command).run(hardening)
      guard !Interruption.isFollowing else {
        throw Failure(
          .unavailable, "this ended with status \(status): \(ShellLine.text(command))",
          advice: "'whorl setup --undo' goes on from here")
      }
      if status != 0 { failed.append(command) }
    }
    // If an undo failed, the store may have the secret of a wallet.
    if failed.isEmpty, try await removeStore(findings) { return }
    tellOfTheRest(findings)
    guard let command = failed.first else { return }
    throw Failure(
      .unavailable, "this command failed, for the reason above: \(ShellLine.text(command))",
      advice: "put that right and run 'whorl setup --undo' again")
  }

  /// Removes the store after another prompt, since it cannot be restored.
  private func removeStore(_ findings: [SetupFinding]) async throws(Failure) -> Bool {
    guard let command = findings.first(where: { $0.step == .store && $0.state == .done })?.undo else {
      if findings.allSatisfy({ $0.undo == nil || $0.state != .done }) { StandardError.line("Nothing is set up.") }
      return true
    }
    guard !isAgreed, let terminal = Terminal() else { return false }
    let session = survey.session
    let items = try await items()
    await session.close()
    let question = "Remove the store, too, with the \(Spoken.plural(items, "item")) in it, for good?"
    guard try SetupDialogue(terminal: terminal).isChosen(question) else { return false }
    StandardError.line(Visible.text("> \(ShellLine.text(command))"))
    guard ChosenCommand(command).run(hardening) == 0 else { return false }
    StandardError.line("Everything was undone. A finger in the desktop's settings stays there.")
    return true
  }

  private func items() async throws(Failure) -> Int {
    let store = try await survey.session.store()
    return try await survey.session.explained { () async throws(VaultError) in try await store.status().items }
  }

  /// Lists what stays, and how to remove it.
  private func tellOfTheRest(_ findings: [SetupFinding]) {
    guard let store = findings.first(where: { $0.step == .store && $0.state == .done }) else { return }
    StandardError.line("The store stays, with its passcode, its fingers and what is in it. To remove it for good:")
    StandardError.line(Visible.text("  \(store.wayBack ?? "")"))
  }
}
