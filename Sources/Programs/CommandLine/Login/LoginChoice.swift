import ArgumentParser

/// The argument of `login enable` and `login disable`.
enum LoginChoice: String, CaseIterable, ExpressibleByArgument {
  case gnomeKeyring = "gnome-keyring"
  case kwallet
  case passcode
  /// A finger at sudo, at polkit's dialogs and at lock screens, for everybody who uses this machine.
  case sudo, polkit, screen

  /// Whether it is a choice of the machine's administrator, in its PAM files, and not one in the store.
  var isOfMachine: Bool { [.sudo, .polkit, .screen].contains(self) }
}
