import ArgumentParser
import CommandBase
internal import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// The passkeys in a store.
struct StoredPasskeys {
  let store: SecretStore

  init(in store: SecretStore) { self.store = store }

  /// All passkeys, or those of one site, oldest first.
  func all(of site: String? = nil) async throws(Failure) -> [Passkey] {
    let attributes: [AttributeName: AttributeValue] = site.map { [.relyingParty: .text($0)] } ?? [:]
    let search = ItemSearch(.passkey, attributes, groups: .all, synchronizable: .any)
    let items = try await store.call { vault throws(Failure) in
      do throws(VaultError) { return try await vault.allItems(search) } catch { throw Failure(error) }
    }
    return items.compactMap { Passkey($0) }
  }

  /// The passkeys with these names: each a site, a site and an account there, or an id.
  func named(_ names: [String]) async throws(Failure) -> [Passkey] {
    let all = try await all()
    var chosen: [Passkey] = []
    for name in names {
      let found = all.filter { $0.id == ItemID(spoken: name) || $0.relyingParty == name || $0.called == name }
      guard let passkey = found.first else {
        throw Failure(
          .notFound, "no passkey \(name)", name: "errSecItemNotFound",
          advice: "'whorl passkey list' lists what there is")
      }
      guard found.count == 1 else {
        let names = Set(found.map(\.called)).sorted().joined(separator: ", ")
        var failure = Failure.usage(
          "\(name) means several passkeys: \(names)",
          advice: "name one by its account, or by its id, which 'whorl passkey list' shows")
        failure.detail = found.map(\.id.spoken).joined(separator: ", ")
        throw failure
      }
      chosen.append(passkey)
    }
    return chosen
  }
}

extension Passkey {
  /// The site, and the account there if it has a name.
  var called: String { user.name.isEmpty ? relyingParty : "\(relyingParty)/\(user.name)" }
}

/// A passkey as JSON.
struct PasskeyRow: Encodable {
  var site: String
  var siteName: String
  var user: String
  var displayName: String
  var id: String
  var algorithm: String
  var access: String
  /// Whether a site can find it without its credential ID.
  var discoverable: Bool
  /// Seconds since 1970.
  var created: Double

  init(_ passkey: Passkey) {
    (site, siteName) = (passkey.relyingParty, passkey.relyingPartyName)
    (user, displayName) = (passkey.user.name, passkey.user.displayName)
    (id, algorithm) = (passkey.id.spoken, passkey.algorithm.word)
    (access, discoverable, created) = (passkey.access.description, passkey.isDiscoverable, passkey.created)
  }
}

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
