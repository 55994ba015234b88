internal import Primitives
internal import Prompts

/// The pages of an open store, by the names of `--page`.
enum PageName: String, CaseIterable {
  case secrets, passkeys, keys, fingers, computers, activity, protection, setup

  /// The page that lists items of a kind.
  init(_ kind: SecretEntry.Kind) {
    self =
      switch kind {
      case .secret: .secrets
      case .passkey: .passkeys
      case .key: .keys
      }
  }

  /// "secrets, passkeys or keys".
  nonisolated static var spoken: String {
    let names = allCases.map(\.rawValue)
    return "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
  }

  var title: String {
    switch self {
    case .secrets: Text.of("Secrets")
    case .passkeys: Text.of("Passkeys")
    case .keys: Text.of("Keys")
    case .fingers: Text.of("Fingers")
    case .computers: Text.of("Computers")
    case .activity: Text.of("Activity")
    case .protection: Text.of("Protection")
    case .setup: Text.of("Setup")
    }
  }

  var icon: String {
    switch self {
    case .secrets: "dialog-password-symbolic"
    case .passkeys: "avatar-default-symbolic"
    case .keys: "network-server-symbolic"
    case .fingers: "auth-fingerprint-symbolic"
    case .computers: "computer-symbolic"
    case .activity: "document-open-recent-symbolic"
    case .protection: "security-high-symbolic"
    case .setup: "emblem-system-symbolic"
    }
  }
}
