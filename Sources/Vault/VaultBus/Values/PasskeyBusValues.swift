internal import KeySchemes
internal import SDBus
internal import SecretModel
internal import SecureMemory

extension NewPasskey: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "rp": relyingParty.busValue, "rp-name": relyingPartyName.busValue, "user": .bytes(user.handle),
      "user-name": user.name.busValue, "display-name": user.displayName.busValue, "algorithm": .string(algorithm.word),
      "discoverable": isDiscoverable.busValue, "protection": protection.rawValue.busValue,
      "replies-with-protection": repliesWithProtection.busValue, "hmac-secret": hasSecret.busValue,
      "blob": blob.map { .bytes($0) }, "client-data-hash": .bytes(clientDataHash), "access": access.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    let word = try record.take("algorithm", as: Word.self).word
    guard let algorithm = KeyAlgorithm(word: word),
      let protection = Passkey.Protection(rawValue: try record.take("protection"))
    else { throw .versionMismatch("the vault does not make passkeys of this kind") }
    let user = Passkey.User(
      handle: try record.take("user", as: Octets.self).bytes, name: try record.take("user-name"),
      displayName: try record.take("display-name"))
    self.init(
      relyingParty: try record.take("rp"), relyingPartyName: try record.take("rp-name"), user: user,
      algorithm: algorithm, isDiscoverable: try record.take("discoverable"), protection: protection,
      repliesWithProtection: try record.take("replies-with-protection"), hasSecret: try record.take("hmac-secret"),
      blob: try record.takeIfPresent("blob", as: Octets.self)?.bytes,
      clientDataHash: try record.take("client-data-hash", as: Octets.self).bytes, access: try record.take("access"))
    try record.end()
  }
}

/// A record, and two secrets: the key for the outputs of `hmac-secret` and its salts, or none.
extension PasskeyAssertion {
  var busValue: BusValue {
    .record([
      "client-data-hash": .bytes(clientDataHash), "blob": wantsBlob.busValue,
      "encryption": secretRequest.map(\.encryption.rawValue.busValue),
    ])
  }

  var busSecrets: BusValue {
    get throws(VaultError) {
      guard let secretRequest else { return .array(of: "h", []) }
      return .array(of: "h", [try secretRequest.key.bytes.sealed(), try secretRequest.salts.bytes.sealed()])
    }
  }

  init(bus value: BusValue, secrets: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    let hash = try record.take("client-data-hash", as: Octets.self).bytes
    let wantsBlob: Bool = try record.take("blob")
    let encryption: Int? = try record.takeIfPresent("encryption")
    try record.end()
    guard let secrets = secrets.asArray, secrets.count == (encryption == nil ? 0 : 2) else {
      throw .unreadable(Self.self)
    }
    var request: PasskeySecretRequest?
    if let encryption {
      guard let encryption = PasskeySecretRequest.Encryption(rawValue: encryption) else { throw .unreadable(Self.self) }
      request = PasskeySecretRequest(
        encryption: encryption, key: SharedSecret(try SecretBytes(sealed: secrets[0], limit: 32)),
        salts: SharedSecret(try SecretBytes(sealed: secrets[1], limit: 64)))
    }
    self.init(clientDataHash: hash, secretRequest: request, wantsBlob: wantsBlob)
  }
}

extension SignedCeremony: BusCodable {
  static var busSignature: String { "(ayay)" }

  var busValue: BusValue { .structure([.bytes(authenticatorData), .bytes(signature)]) }

  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2, let data = parts[0].asBytes, let signature = parts[1].asBytes
    else { throw .unreadable(Self.self) }
    self.init(authenticatorData: data, signature: signature)
  }
}

extension PasskeyReadiness: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue { .record(["capacity": capacity.busValue, "finger": hasFinger.busValue]) }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(capacity: try record.take("capacity"), hasFinger: try record.take("finger"))
    try record.end()
  }
}
