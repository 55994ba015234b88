import ArgumentParser
internal import KeySchemes
internal import Primitives
internal import PromptTexts
import SecretModel

struct PasskeyShow: Command {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a passkey without its private key.",
    discussion: """
      Needs no finger. The user id is what the site knows the account by, and the credential id what it knows the \
      passkey by, both in base64url. When it was last used is told by the system service's log, as far back as that goes; \
      a private store has none.

      Examples:
        whorl passkey show example.com
        whorl passkey show example.com/alice --json
      """)

  static let spoken = "passkey show"

  @OptionGroup var options: GlobalOptions

  @Argument(
    help: ArgumentHelp("The passkey: SITE, SITE/ACCOUNT or its id.", valueName: "passkey"), completion: .passkeyNames)
  var passkey: String

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let found = try await StoredPasskeys(in: session.openStore()).named([passkey])[0]
    var search = AuditSearch()
    search.requests = [.assertPasskey]
    // A private store has no log.
    let entries = (try? await session.request { [search] in try await $0.log(search) }) ?? []
    let used = entries.last { $0.items.contains(found.id) && $0.outcome == .done }?.time
    let details = Details(found, used: used)
    if options.json { return try JSON.print(details) }
    try StandardOutput.write(details.lines.map { "\($0.0): \(Visible.text($0.1))\n" }.joined())
  }

  private struct Details: Encodable {
    var site: String
    var siteName: String
    var user: String
    var displayName: String
    var userID: String
    var credentialID: String
    var id: String
    var algorithm: String
    var access: String
    /// Whether a site can find it without its credential ID.
    var discoverable: Bool
    /// The level of `credProtect`.
    var protection: Int
    var hmacSecret: Bool
    /// The flag that sites get: the passkey can be exported, and so backed up.
    var backupEligible = true
    /// Seconds since 1970.
    var created: Double
    /// Seconds since 1970; nil if it is unknown.
    var used: Int64?

    init(_ passkey: Passkey, used: Int64?) {
      (site, siteName) = (passkey.relyingParty, passkey.relyingPartyName)
      (user, displayName) = (passkey.user.name, passkey.user.displayName)
      userID = Base64URL.text(of: passkey.user.handle)
      credentialID = Base64URL.text(of: passkey.credentialID)
      (id, algorithm) = (passkey.id.spoken, passkey.algorithm == .ed25519 ? "EdDSA" : "ES256")
      (access, discoverable) = (passkey.access.description, passkey.isDiscoverable)
      (protection, hmacSecret) = (passkey.protection.rawValue, passkey.hasSecret)
      (created, self.used) = (passkey.created, used)
    }

    /// The labels and values of the text output.
    var lines: [(String, String)] {
      let protections = [
        "optional", "optional for a site that knows the passkey already, else required", "always required",
      ]
      return [
        ("site", siteName.isEmpty || siteName == site ? site : "\(site) (\(siteName))"), ("account", user),
        ("name", displayName), ("user id", userID), ("credential id", credentialID), ("id", id),
        ("algorithm", algorithm), ("access", access), ("made", Spoken.time(Int64(clamping: created))),
        ("last used", used.map(Spoken.time) ?? "not known"), ("discoverable", discoverable ? "yes" : "no"),
        ("verification", "\(protections[protection - 1]) (credProtect \(protection))"),
        ("hmac-secret", hmacSecret ? "yes" : "no"), ("may be backed up", backupEligible ? "yes" : "no"),
      ]
    }
  }
}
