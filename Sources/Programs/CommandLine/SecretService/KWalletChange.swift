internal import PromptTexts
import Settings

/// Has KWallet use the Secret Service of the session, or a service of its own again, by KDE's own program for settings.
struct KWalletChange {
  let hardening: Hardening

  /// Returns whether anything was changed.
  func use(_ settings: KWalletSettings) throws(Failure) -> Bool { try run(settings.using) }

  /// Returns whether anything was changed.
  func takeBack(_ settings: KWalletSettings) throws(Failure) -> Bool { try run(settings.takingBack) }

  private func run(_ commands: [[String]]) throws(Failure) -> Bool {
    for command in commands {
      let status = ChosenCommand(command).run(hardening)
      guard status == 0 else {
        throw Failure(
          .unavailable, "KWallet's settings were not changed: '\(ShellLine.text(command))' ended with status \(status)",
          advice: "kwriteconfig6 comes with KDE (on Debian in libkf6config-bin); install it, and run this again")
      }
    }
    return !commands.isEmpty
  }
}
