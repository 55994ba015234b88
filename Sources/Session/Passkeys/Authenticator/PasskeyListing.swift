internal import CBOR
internal import Keys
internal import SecretModel

/// The answers of the enumerations of credential management.
enum PasskeyListing {
  static func hash(_ relyingParty: String) -> [UInt8] { Digest.sha256(Array(relyingParty.utf8)) }

  static func relyingParties(of passkeys: [Passkey]) throws(CTAPStatus) -> [CBORValue] {
    var seen: Set<String> = []
    let parties = passkeys.filter { seen.insert($0.relyingParty).inserted }
    return try counted(
      parties.map { passkey in
        var party: [CBORValue: CBORValue] = ["id": .text(passkey.relyingParty)]
        if !passkey.relyingPartyName.isEmpty {
          party["name"] = .text(CredentialEntities.truncated(passkey.relyingPartyName))
        }
        return [3: .map(party), 4: .bytes(hash(passkey.relyingParty))]
      }, key: 5)
  }

  static func credentials(of passkeys: [Passkey]) throws(CTAPStatus) -> [CBORValue] {
    try counted(
      passkeys.map { passkey in
        [
          6: CredentialEntities.value(of: passkey.user), 7: CredentialEntities.descriptor(passkey.credentialID),
          8: COSEKey(signing: passkey.publicKey)?.value ?? .null, 10: CBORValue(passkey.protection.rawValue),
        ]
      }, key: 9)
  }

  /// Adds the number of all answers to the first one.
  private static func counted(
    _ answers: [[CBORValue: CBORValue]], key: CBORValue
  ) throws(CTAPStatus) -> [CBORValue] {
    guard !answers.isEmpty else { throw .noCredentials }
    var answers = answers
    answers[0][key] = CBORValue(answers.count)
    return answers.map { .map($0) }
  }
}
