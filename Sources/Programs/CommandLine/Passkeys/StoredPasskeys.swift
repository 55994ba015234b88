internal import KeySchemes
import SecretModel
import Whorl

/// The passkeys in a store.
struct StoredPasskeys {
  let store: SecretStore

  init(in store: SecretStore) { self.store = store }

  /// In a store that does not go through ``Session/openStore()`` yet.
  init(in store: any VaultService) { self.init(in: SecretStore(service: store)) }

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
