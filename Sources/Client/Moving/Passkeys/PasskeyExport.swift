// Passkeys into the files of other managers, and out of them.

internal import FoundationEssentials
internal import Glibc
internal import Primitives
package import SecretModel

/// Writes passkeys into an encrypted file, in FIDO's Credential Exchange Format 1.0, for another program.
package struct PasskeyExport: Sendable {
  private let passkeys: [Item]
  private let store: any VaultService

  /// - Parameter passkeys: living items of class `passkey`.
  package init(_ passkeys: [Item], from store: any VaultService) { (self.passkeys, self.store) = (passkeys, store) }

  /// Asks for everything that the passkeys need, with the reason of `asking`.
  package func ask(_ asking: Asking) async throws(VaultError) {
    try await store.show(Set(passkeys.map(\.access)), asking)
  }

  /// Exports the passkeys, and returns their number.
  ///
  /// - Parameters:
  ///   - file: an empty file, open for writing. If this throws, the file is incomplete and must be removed.
  ///   - connection: a private vault, which encrypts.
  ///   - asking: in the context of ``ask(_:)``.
  package func write(
    to file: Int32, for recipient: EncryptedFile.Recipient, by connection: any VaultConnection, _ asking: Asking
  ) async throws(VaultError) -> Int {
    try await EncryptedTransfer(connection: connection).encrypt(into: file, for: recipient) {
      (socket) async throws(VaultError) in
      let text = SecretText(to: socket)
      let account = Base64URL.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
      try text.append(
        """
        {"version":{"major":1,"minor":0},"exporterRpId":"whorl.org","exporterDisplayName":"Whorl",\
        "timestamp":\(time(nil)),"accounts":[{"id":"\(account)","username":"","email":"","collections":[],"items":[
        """)
      for (number, item) in passkeys.enumerated() {
        guard let passkey = Passkey(item) else { throw .itemDamaged(item.name ?? ItemName(of: .passkey, [:])) }
        let secret = try await store.export(item, asking).get()
        guard let moving = MovingPasskey(secret.secret) else { throw .internalError("a passkey cannot be read") }
        if number > 0 { try text.append(",\n") }
        try append(passkey, moving, to: text)
      }
      try text.append("]}]}\n")
      try text.flush()
      return passkeys.count
    }
  }

  /// The members that are no secrets.
  private struct OpenMembers: Encodable {
    var type = "passkey"
    var credentialId: String
    var rpId: String
    var username: String
    var userDisplayName: String
    var userHandle: String
  }

  private func append(_ passkey: Passkey, _ secret: MovingPasskey, to text: SecretText) throws(VaultError) {
    let id = Base64URL.text(of: passkey.id.bytes)
    let title = passkey.relyingPartyName.isEmpty ? passkey.relyingParty : passkey.relyingPartyName
    try text.append(
      #"{"id":"\#(id)","creationAt":\#(Int64(clamping: passkey.created)),"title":\#(try json(title)),"credentials":["#)
    let open = OpenMembers(
      credentialId: Base64URL.text(of: passkey.credentialID), rpId: passkey.relyingParty,
      username: passkey.user.name, userDisplayName: passkey.user.displayName,
      userHandle: Base64URL.text(of: passkey.user.handle))
    try text.append(String(try json(open).dropLast()) + #","key":""#)
    try text.append(base64: secret.key)
    try text.append("\"")
    var extensions: [(String, () throws(VaultError) -> Void)] = []
    if passkey.hasSecret {
      extensions.append(
        (
          "hmacCredentials",
          { () throws(VaultError) in
            try text.append(#"{"algorithm":"hmac-sha256","credWithUV":""#)
            try text.append(base64: secret.secretKey)
            // The key for requests without verification. Whorl always verifies and has no such key, so this one is
            // random.
            let unused = (0..<MovingPasskey.secretKeyCount).map { _ in UInt8.random(in: .min ... .max) }
            try text.append(#"","credWithoutUV":"\#(Base64URL.text(of: unused))"}"#)
          }
        ))
    }
    if !passkey.blob.isEmpty {
      extensions.append(
        ("credBlob", { () throws(VaultError) in try text.append("\"\(Base64URL.text(of: passkey.blob))\"") }))
    }
    for (number, member) in extensions.enumerated() {
      try text.append((number == 0 ? #","fido2Extensions":{"# : ",") + "\"\(member.0)\":")
      try member.1()
    }
    try text.append((extensions.isEmpty ? "" : "}") + "}]}")
  }

  private func json(_ value: some Encodable) throws(VaultError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw .internalError("a passkey of an export: \(error)")
    }
  }
}

/// Imports passkeys of another program. The vault checks each key, and refuses passkeys that are not valid.
package struct PasskeyImport: Sendable {
  private let items: [(item: NewItem, secret: MovingPasskey)]
  private let store: any VaultService
  private let access: AccessControl

  /// - Parameter access: of all imported passkeys.
  package init(_ file: PasskeyFile, into store: any VaultService, access: AccessControl) {
    items = file.entries.map { (NewItem(.passkey, $0.attributes, access: access), $0.secret) }
    (self.store, self.access) = (store, access)
  }

  /// What would be imported. Shows no prompt.
  package func plan() async throws(VaultError) -> ItemFilePlan {
    var there: Set<AttributeValue> = []
    for item in try await store.allItems(ItemSearch(.passkey, groups: .all, synchronizable: .any)) {
      if let id = item.attributes[.credentialID] { there.insert(id) }
    }
    var seen: Set<AttributeValue> = []
    var plan = ItemFilePlan()
    for (item, _) in items {
      let name = ItemName(of: .passkey, item.attributes)
      guard let id = item.attributes[.credentialID] else { continue }
      if !seen.insert(id).inserted {
        plan.duplicates.append(name)
      } else if there.contains(id) {
        plan.alreadyThere.append(name)
      } else {
        plan.coming.append(name)
        plan.comes.append(true)
        continue
      }
      plan.comes.append(false)
    }
    return plan
  }

  /// Imports the passkeys of the plan, after the proof that their access control requires.
  ///
  /// - Throws: an error of the authentication, before anything is imported, and errors that prevent storing any item.
  package func bring(_ plan: ItemFilePlan, _ asking: Asking) async throws(VaultError) -> ItemFileOutcome {
    var outcome = ItemFileOutcome(
      alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
    _ = try await store.evaluate(.access(access), asking)
    for (entry, comes) in zip(items, plan.comes) where comes {
      let name = ItemName(of: .passkey, entry.item.attributes)
      switch try await store.refusal(of: entry.item, SharedSecret(entry.secret.bytes)) {
      case nil: outcome.brought.append(name)
      case .duplicateItem?: outcome.alreadyThere.append(name)
      case .some(let error): outcome.unusable.append(UnusableEntry(name.description, .refused(error)))
      }
    }
    return outcome
  }
}
