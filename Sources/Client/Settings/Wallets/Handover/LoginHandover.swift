internal import Primitives
package import SecretModel

/// Hands over the secrets chosen for the login: opens the wallets and delivers the other secrets. Shows no prompts.
package struct LoginHandover: Sendable {
  /// The result for one entry.
  package enum Outcome: Sendable, Hashable {
    case handedOver
    /// The accessibility class of its item is locked.
    case closed(Accessibility)
    /// The wallet or the target of a delivery failed.
    case wallet(WalletError)
    /// The vault did not release it.
    case vault(VaultError)
  }

  /// When the secrets are handed over.
  package enum Moment: Sendable {
    /// At a login, or when a desktop or a daemon starts.
    case login
    /// When a person asks for it.
    case command
  }

  private let entries: LoginEntries
  private let keyring: KeyringPlaces
  private let kwallet: KWalletOpening
  private let delivery: Delivery

  package init(in vault: any VaultService, keyring: KeyringPlaces, kwallet: KWalletOpening, delivery: Delivery) {
    entries = LoginEntries(in: vault)
    self.keyring = keyring
    self.kwallet = kwallet
    self.delivery = delivery
  }

  /// Hands over all entries, or those of one kind, one after the other. A failure does not stop the rest.
  package func run(
    _ kind: LoginItem.Kind? = nil, at moment: Moment
  ) async throws(VaultError) -> [(entry: LoginItem, outcome: Outcome)] {
    var outcomes: [(LoginItem, Outcome)] = []
    for (entry, _) in try await entries.all(of: kind) where entry.kind != .passcode {
      // At the login there is no desktop yet. KWallet is opened when the desktop starts.
      if entry.kind == .kwallet, moment == .login, !kwallet.hasDesktop { continue }
      outcomes.append((entry, await handOver(entry, at: moment)))
    }
    return outcomes
  }

  private func handOver(_ entry: LoginItem, at moment: Moment) async -> Outcome {
    do {
      guard let secret = try await entries.secret(of: entry) else { return .vault(.itemGone) }
      switch entry.kind {
      case .gnomeKeyring:
        let opening = KeyringOpening(keyring)
        try opening.open(with: secret.bytes)
        if moment == .login { try opening.forgetFileOfBefore() }
        try await opening.renewSealedCopy(of: secret.bytes, entries)
      case .environment, .file, .command: try await delivery.deliver(secret.bytes, to: entry)
      case .kwallet: try await kwallet.open(with: secret.bytes)
      case .passcode: break
      }
      return .handedOver
    } catch VaultError.notUnlocked(let accessibility) {
      return .closed(accessibility)
    } catch let error as VaultError {
      return .vault(error)
    } catch let error as WalletError {
      return .wallet(error)
    } catch {
      return .wallet(.system("\(error)"))
    }
  }
}
