internal import Prompts
package import SecretModel

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

  /// For a new passkey that takes the place of an earlier one of the same account, which is then gone.
  package static func replace(_ passkey: Passkey) -> CeremonyWords {
    CeremonyWords("replace \(called(passkey)) with a new one")
  }

  /// - Parameter relyingParty: nil for all of them.
  package static func list(_ relyingParty: RelyingPartyID?) -> CeremonyWords {
    CeremonyWords(relyingParty.map { "list the passkeys for \($0.shown)" } ?? "list your passkeys")
  }

  package static func rename(_ passkey: Passkey, to user: Passkey.User) -> CeremonyWords {
    let name = user.promptName
    let isShown = !PromptLabel.text(name).isEmpty && name != passkey.user.promptName
    return CeremonyWords("rename \(called(passkey))\(isShown ? " to \(PromptLabel.word(name))" : "")")
  }

  package static func delete(_ passkey: Passkey) -> CeremonyWords { CeremonyWords("delete \(called(passkey))") }

  /// For a program that lets the user choose between several authenticators.
  package static let select = CeremonyWords("choose this computer for a passkey")

  package static func reset(count: Int) -> CeremonyWords {
    CeremonyWords(count == 1 ? "delete your only passkey" : "delete all of your \(count) passkeys")
  }

  private static func called(_ passkey: Passkey) -> String {
    "the passkey for \(RelyingPartyID.shown(passkey.relyingParty))\(account(passkey.user.promptName))"
  }

  private static func account(_ user: String?) -> String {
    guard let user, !PromptLabel.text(user).isEmpty else { return "" }
    return " as \(PromptLabel.word(user))"
  }
}

extension Passkey.User {
  /// The name for prompts.
  var promptName: String { name.isEmpty ? displayName : name }
}
