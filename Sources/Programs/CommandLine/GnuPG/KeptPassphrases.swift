import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// The key whose passphrase GnuPG's agent wants, by its keygrip: 40 hexadecimal digits.
struct GnuPGKey: Sendable, Hashable {
  let grip: String
  /// What the agent says of the key, such as its user; for people.
  var claim: String?

  /// Reads the argument of `SETKEYINFO`. Nil where it is about no key that is kept on this computer.
  init?(keyInfo: Substring) {
    let parts = keyInfo.split(separator: "/", omittingEmptySubsequences: false)
    // `n` and `s` are the agent's own keys, for GnuPG and for ssh.
    guard parts.count == 2, ["n", "s"].contains(parts[0]), parts[1].utf8.count == 40,
      parts[1].utf8.allSatisfy({ ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "f") || $0.isDigit })
    else { return nil }
    grip = parts[1].uppercased()
  }

  /// The text in the quotation marks of a description, which is the key's user.
  static func claim(in description: String) -> String? {
    let parts = description.split(separator: "\"", omittingEmptySubsequences: false)
    guard parts.count > 2 else { return nil }
    let claim = PromptLabel.text(String(parts[1]))
    return claim.isEmpty ? nil : claim
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}

/// The passphrases of GnuPG's keys in the store, each an item `gpg/KEYGRIP`.
struct KeptPassphrases: Sendable {
  enum Answer: Sendable {
    case passphrase(SharedSecret)
    /// The person pressed Cancel.
    case cancelled
    /// There is one, and it was not released.
    case refused
    /// There is none.
    case missing
    /// The store cannot be asked.
    case unavailable
  }

  /// With the terminal of the program that uses GnuPG.
  var session: Session

  /// The passphrase of a key, after what its rule requires.
  func passphrase(of key: GnuPGKey) async -> Answer {
    let there: Item?
    do throws(Failure) {
      there = try await item(of: key)
    } catch {
      report(error)
      return .unavailable
    }
    guard let there else { return .missing }
    do throws(Failure) {
      let released = try await session.secret(
        of: there, reason: "GnuPG\(key.claim.map { ": \($0)" } ?? "")", noPrompt: !session.canAskElsewhere)
      return .passphrase(SharedSecret(released.secret.copy()))
    } catch {
      report(error)
      if case .cancelled? = error.cause { return .cancelled }
      return .refused
    }
  }

  /// Stores a passphrase. One that takes the place of another keeps that one's rule.
  func keep(_ passphrase: SharedSecret, of key: GnuPGKey) async {
    do throws(Failure) {
      let there = try await item(of: key)
      var new = NewItem(
        named: try session.itemName(Self.name(of: key)),
        access: there?.access ?? AccessControl(session.configuration.access ?? .presence),
        accessibility: there?.accessibility ?? .whenUnlocked)
      new.attributes[.label] = key.claim.map { AttributeValue.text("GnuPG: \($0)") } ?? there?.attributes[.label]
      // A shared item stays shared.
      if there?.isShared == true { new.attributes[.synchronizable] = .number(1) }
      let item = new
      try await session.storing(item, session.answers(noPrompt: true)) {
        _ = try await $0.add(item, secret: passphrase.copy(), replacing: true, $1)
      }
    } catch {
      report(error)
    }
  }

  /// Removes the passphrase of a key, if there is one.
  func forget(_ key: GnuPGKey) async {
    do throws(Failure) {
      guard let there = try await item(of: key) else { return }
      _ = try await session.request { try await $0.delete(.ids([there.id])) }
    } catch {
      report(error)
    }
  }

  private func item(of key: GnuPGKey) async throws(Failure) -> Item? {
    let search = ItemSearch(named: try session.itemName(Self.name(of: key)))
    return try await session.request { try await $0.allItems(search) }.first { $0.state == .living }
  }

  private static func name(of key: GnuPGKey) -> String { "gpg/\(key.grip)" }

  /// Writes why, for whoever reads the log of GnuPG's agent.
  private func report(_ failure: Failure) { StandardError.line(Visible.text("whorl: pinentry: \(failure.what)")) }
}
