import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings

/// `whorl` without arguments at a terminal: what is set up, and the next step.
struct Overview {
  let session: Session

  /// The five lines.
  func lines() async throws(Failure) -> [String] {
    let findings = try await SetupSurvey(at: session).findings()
    func words(_ step: SetupStep) -> String { findings.first { $0.step == step }?.words ?? "unknown" }
    func isOn(_ step: SetupStep) -> Bool { findings.contains { $0.step == step && $0.isSetUp } }
    let hasStore = isOn(.store)
    let names: [(SetupStep, String)] = [
      (.login, "login"), (.keyring, "GNOME's keyring"), (.kwallet, "KWallet"), (.sudo, "sudo"),
      (.polkit, "administrator's dialogs"), (.screen, "lock screen"), (.secrets, "passwords of the desktop"),
      (.passkeys, "passkeys"), (.ssh, "ssh"), (.git, "git"), (.gpg, "GnuPG"),
      (.sync, "sync"),
    ]
    let on = names.filter { isOn($0.0) }.map(\.1)
    let left = findings.filter { $0.state == .open }.map(\.subject)
    var next = "whorl set mail/me stores a secret, whorl get mail/me gives it out. All commands: whorl --help"
    if !left.isEmpty { next = "whorl setup goes on (\(left.joined(separator: ", "))). All commands: whorl --help" }
    if let fault = findings.first(where: { $0.state == .faulty }), let advice = fault.advice {
      next = "\(fault.words): \(advice)"
    }
    if !hasStore { next = "whorl setup sets everything up, a question at a time. All commands: whorl --help" }
    return [
      "Store     \(hasStore ? try await store() : "none yet")",
      "Fingers   \(words(.fingers))\(isOn(.reader) ? ", on \(words(.reader))" : "")",
      "Passcode  \(words(.passcode))",
      "On        \(on.isEmpty ? "nothing else" : on.joined(separator: ", "))",
      "Next      \(next)",
    ]
  }

  private func store() async throws(Failure) -> String {
    let status = try await session.request { try await $0.status() }
    await session.close()
    let isClosed = status.firstUnlock != .none && status.passcodeDeadline == nil
    return "\(Spoken.plural(status.items, "item"))\(isClosed ? ", closed until 'whorl unlock' or a login" : "")"
  }
}
