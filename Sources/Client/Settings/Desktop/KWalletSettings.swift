internal import Glibc
internal import Primitives
internal import SecretModel
internal import Whorl

/// Where KWallet keeps what KDE's programs store: in a service of its own (ksecretd), or in the Secret Service of the
/// session, whichever program that is. KDE Frameworks 6.14 and later can do both. Settings beside the two that matter say
/// that Whorl has made them, and what was there before.
package struct KWalletSettings {
  package enum State: Sendable {
    case ownService
    case secretServiceByWhorl
    case secretServiceByUser
  }

  private static let limit = 64 << 10
  private static let (service, wallet) = ("KSecretD", "Wallet")
  private static let (isEnabled, isByWhorl, nameBefore) = ("Enabled", "whorl", "whorl-default-wallet")
  private static let nameOfWallet = "Default Wallet"

  /// The settings of the file, by group and key.
  private let values: [String: [String: String]]

  /// The settings of this user; nil where KWallet has no such choice.
  package static func here() throws(Failure) -> KWalletSettings? {
    guard KWalletDaemon.installed == .ksecretd else { return nil }
    guard let configuration = BaseDirectories.configuration else { throw .noHome }
    let path = "\(configuration)/kwalletrc"
    do throws(SmallFile.Failure) {
      return KWalletSettings(file: String(decoding: try SmallFile.read(path, limit: limit), as: UTF8.self))
    } catch {
      // An unreadable file has settings that could not be given back.
      guard access(path, F_OK) != 0, errno == ENOENT else {
        throw Failure(
          .inputOutput, "cannot read KWallet's settings: \(path): \(error.problem)",
          advice: "correct that file, and run this again")
      }
      return KWalletSettings(file: "")
    }
  }

  init(file: String) {
    var values: [String: [String: String]] = [:]
    var group = ""
    for line in file.split(separator: "\n") {
      if line.hasPrefix("["), line.hasSuffix("]") {
        group = String(line.dropFirst().dropLast())
      } else if let equals = line.firstIndex(of: "=") {
        values[group, default: [:]][String(line[..<equals])] = Self.plain(line[line.index(after: equals)...])
      }
    }
    self.values = values
  }

  /// A value of such a file without its escapes.
  private static func plain(_ value: Substring) -> String {
    var (text, rest) = ("", value[...])
    while let letter = rest.popFirst() {
      guard letter == "\\", let escaped = rest.popFirst() else {
        text.append(letter)
        continue
      }
      text += ["s": " ", "t": "\t", "n": "\n", "r": "\r"][escaped] ?? String(escaped)
    }
    return text
  }

  package var state: State {
    // As KDE reads it.
    let off = ["false", "off", "no", "0"]
    guard let value = values[Self.service]?[Self.isEnabled], off.contains(value.lowercased()) else {
      return .ownService
    }
    return values[Self.service]?[Self.isByWhorl] == "true" ? .secretServiceByWhorl : .secretServiceByUser
  }

  /// The commands that have KWallet use the Secret Service, from the next login on; none where it does already.
  package var using: [[String]] {
    guard case .ownService = state else { return [] }
    var commands: [[String]] = []
    // An interrupted run has set the mark, and perhaps the new name.
    if values[Self.service]?[Self.isByWhorl] != "true" {
      if let name = values[Self.wallet]?[Self.nameOfWallet] {
        commands.append(Self.set(Self.service, Self.nameBefore, name))
      } else if values[Self.service]?[Self.nameBefore] != nil {
        commands.append(Self.delete(Self.service, Self.nameBefore))
      }
      // The mark before the change: without it, nothing would take the change back.
      commands.append(Self.set(Self.service, Self.isByWhorl, "true"))
    }
    // KWallet calls a collection of the Secret Service a wallet, and opens the one of this name for its programs.
    commands.append(Self.set(Self.wallet, Self.nameOfWallet, SecretServiceFolder.usualLabel))
    commands.append(Self.set(Self.service, Self.isEnabled, "false"))
    return commands
  }

  /// The commands that take Whorl's settings back; none where it has made none.
  package var takingBack: [[String]] {
    guard values[Self.service]?[Self.isByWhorl] == "true" else { return [] }
    let name = values[Self.service]?[Self.nameBefore]
    return [
      Self.delete(Self.service, Self.isEnabled),
      name.map { Self.set(Self.wallet, Self.nameOfWallet, $0) } ?? Self.delete(Self.wallet, Self.nameOfWallet),
      Self.delete(Self.service, Self.isByWhorl), Self.delete(Self.service, Self.nameBefore),
    ]
  }

  private static func set(_ group: String, _ key: String, _ value: String) -> [String] {
    entry(group, key) + ["--", value]
  }

  private static func delete(_ group: String, _ key: String) -> [String] { entry(group, key) + ["--delete"] }

  private static func entry(_ group: String, _ key: String) -> [String] {
    ["kwriteconfig6", "--file", "kwalletrc", "--group", group, "--key", key]
  }
}
