internal import Primitives
internal import Prompts
package import SecretModel

/// The purpose of a touch, as prompts show it after "to". Names come from the client program, and are made safe to
/// show.
package struct CeremonyWords: Sendable, Hashable {
  package let text: String

  private init(_ text: String) { self.text = text }

  /// - Parameter user: the account, if it is known.
  package static func signIn(to relyingParty: RelyingPartyID, as user: String? = nil) -> CeremonyWords {
    let site = relyingParty.shown
    return CeremonyWords(
      account(user).map { Text.of("sign in to {site} as {user}", ["site": site, "user": $0]) }
        ?? Text.of("sign in to {site}", ["site": site]))
  }

  package static func make(for relyingParty: RelyingPartyID, as user: String? = nil) -> CeremonyWords {
    let site = relyingParty.shown
    return CeremonyWords(
      account(user).map { Text.of("make a passkey for {site} as {user}", ["site": site, "user": $0]) }
        ?? Text.of("make a passkey for {site}", ["site": site]))
  }

  /// For a new passkey that takes the place of an earlier one of the same account, which is then gone.
  package static func replace(_ passkey: Passkey) -> CeremonyWords {
    CeremonyWords(Text.of("replace {passkey} with a new one", ["passkey": called(passkey)]))
  }

  /// - Parameter relyingParty: nil for all of them.
  package static func list(_ relyingParty: RelyingPartyID?) -> CeremonyWords {
    CeremonyWords(
      relyingParty.map { Text.of("list the passkeys for {site}", ["site": $0.shown]) } ?? Text.of("list your passkeys"))
  }

  package static func rename(_ passkey: Passkey, to user: Passkey.User) -> CeremonyWords {
    let name = user.promptName
    let isShown = !PromptLabel.text(name).isEmpty && name != passkey.user.promptName
    let places = ["passkey": called(passkey), "name": PromptLabel.word(name)]
    return CeremonyWords(
      isShown ? Text.of("rename {passkey} to {name}", places) : Text.of("rename {passkey}", places))
  }

  package static func delete(_ passkey: Passkey) -> CeremonyWords {
    CeremonyWords(Text.of("delete {passkey}", ["passkey": called(passkey)]))
  }

  /// For a program that lets the user choose between several authenticators.
  package static var select: CeremonyWords { CeremonyWords(Text.of("choose this computer for a passkey")) }

  package static func reset(count: Int) -> CeremonyWords {
    CeremonyWords(Text.plural("delete your only passkey", "delete all of your {count} passkeys", count))
  }

  private static func called(_ passkey: Passkey) -> String {
    let site = RelyingPartyID.shown(passkey.relyingParty)
    return account(passkey.user.promptName).map {
      Text.of("the passkey for {site} as {user}", ["site": site, "user": $0])
    } ?? Text.of("the passkey for {site}", ["site": site])
  }

  private static func account(_ user: String?) -> String? {
    guard let user, !PromptLabel.text(user).isEmpty else { return nil }
    return PromptLabel.word(user)
  }
}

extension Passkey.User {
  /// The name for prompts.
  var promptName: String { name.isEmpty ? displayName : name }
}
