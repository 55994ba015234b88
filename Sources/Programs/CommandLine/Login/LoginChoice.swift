import ArgumentParser

/// The argument of `login enable` and `login disable`.
enum LoginChoice: String, CaseIterable, ExpressibleByArgument {
  case gnomeKeyring = "gnome-keyring"
  case kwallet
  case passcode
}
