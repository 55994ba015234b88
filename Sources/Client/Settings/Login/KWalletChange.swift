internal import Primitives
internal import SecretModel
internal import Whorl

/// Has logins open the wallet of KWallet, and takes that back.
package struct KWalletChange: Sendable {
  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }

  package init(_ dialogue: any ChangeDialogue) { self.dialogue = dialogue }

  private static let password = "password of KWallet"

  /// Keeps the wallet's key in the store.
  package func enable() async throws(Failure) {
    _ = try await context.openStore()
    let places = try context.kwalletPlaces()
    // Report these problems before anything is asked.
    do throws(WalletError) { try KWalletFile.requireSealed(places) } catch { throw Failure(error) }
    // A wrong password is told before anything else is asked.
    let key = try await typedKey()
    try await dialogue.openIfWaiting(to: "keep KWallet's key")
    try await choosing { try await $0.keep(key) }
    dialogue.tell(.done("Logins open KWallet from now on. It keeps its password."))
  }

  /// Removes the key.
  package func disable() async throws(Failure) {
    _ = try await context.openStore()
    try await choosing { try await $0.disable() }
  }

  /// Finds out whether the key that was kept opens the wallet, and asks for the password where that was changed.
  package func repair() async throws(Failure) -> KWalletChoice.Outcome {
    let dialogue = dialogue
    let outcome = try await choosing { choice in
      try await choice.repair {
        guard dialogue.canAskForPasswords else { return nil }
        dialogue.tell(.hint("The key that was kept does not open KWallet."))
        return try await dialogue.password(Self.password, isOptional: false)
      }
    }
    guard outcome != .unknown else {
      throw .interactionNotAllowed(
        "KWallet does not open with the key that was kept, and its password was not given",
        advice: "give it with --password-fd, or 'whorl login disable kwallet' removes the key")
    }
    return outcome
  }

  /// The wallet's key, made of the password that the person types.
  func typedKey() async throws(Failure) -> SharedSecret {
    try await dialogue.proven(Self.password) { word in try await choosing { try await $0.key(from: word) } }
  }

  /// A private vault derives the key, wherever the store is.
  private func choosing<Answer>(_ body: (KWalletChoice) async throws -> Answer) async throws(Failure) -> Answer {
    let (places, context) = (try context.kwalletPlaces(), context)
    return try await context.request { vault in
      let choice = KWalletChoice(places, in: vault) { password, salt in
        try await context.withPrivateVault { vault throws(Failure) in
          try await context.explained { () async throws(VaultError) in
            SharedSecret(try await vault.walletKey(from: password.copy(), salt: salt))
          }
        }
      }
      return try await body(choice)
    }
  }
}

extension KWalletChoice.Outcome {
  /// For a person.
  package var words: String {
    switch self {
    case .nothing: "Logins do not open KWallet; 'whorl login enable kwallet' changes that."
    case .opens: "KWallet opens with the key that the store has."
    case .replaced: "KWallet has another password, and the store its new key."
    case .unknown: "The password of KWallet was not given."
    }
  }
}
