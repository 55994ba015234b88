internal import PromptTexts

/// The purpose of a touch, as prompts show it after "to". Names come from the client program, and are made safe to
/// show.
package struct CeremonyWords: Sendable, Hashable {
  package let text: String

  private init(_ text: String) { self.text = text }

  /// - Parameter user: the account, if it is known.
  package static func signIn(to relyingParty: RelyingPartyID, as user: String? = nil) -> CeremonyWords {
    CeremonyWords("sign in to \(relyingParty.shown)\(account(user))")
  }

  package static func make(for relyingParty: RelyingPartyID, as user: String? = nil) -> CeremonyWords {
    CeremonyWords("make a passkey for \(relyingParty.shown)\(account(user))")
  }

  /// - Parameter relyingParty: nil for all of them.
  package static func manage(_ relyingParty: RelyingPartyID?) -> CeremonyWords {
    CeremonyWords(relyingParty.map { "manage the passkeys for \($0.shown)" } ?? "manage your passkeys")
  }

  /// For a program that lets the user choose between several authenticators.
  package static let select = CeremonyWords("choose this computer for a passkey")

  package static func reset(count: Int) -> CeremonyWords {
    CeremonyWords(count == 1 ? "delete your only passkey" : "delete all of your \(count) passkeys")
  }

  private static func account(_ user: String?) -> String {
    guard let user, !PromptLabel.text(user).isEmpty else { return "" }
    return " as \(PromptLabel.word(user))"
  }
}
