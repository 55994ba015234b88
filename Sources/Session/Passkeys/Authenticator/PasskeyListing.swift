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

/// Which passkeys a request may use or see.
enum PasskeyFilter {
  /// The passkeys of an allow list, or all discoverable ones if it is nil; newest first.
  ///
  /// - Parameter verified: whether the user was verified for this request. If not, `credProtect` hides some passkeys.
  ///   Must be true without a list.
  static func allowed(_ passkeys: [Passkey], by list: [[UInt8]]?, verified: Bool) -> [Passkey] {
    passkeys.filter { passkey in
      guard verified || passkey.protection != .required else { return false }
      guard let list else { return passkey.isDiscoverable }
      return list.contains(passkey.credentialID)
    }.sorted { $0.created > $1.created }
  }
}

/// The answers of an enumeration after the first. The client fetches each with a command of its own.
struct Remainder {
  enum Kind { case assertions, relyingParties, credentials }

  /// The time limit for the next command, in milliseconds.
  static let lifetime: UInt64 = 30_000

  let kind: Kind
  /// The client that began the enumeration.
  let channel: UInt32
  private(set) var answers: ArraySlice<CBORValue>
  private var deadline: UInt64

  init(_ kind: Kind, _ answers: ArraySlice<CBORValue>, for channel: UInt32, at now: UInt64) {
    (self.kind, self.answers, self.channel) = (kind, answers, channel)
    deadline = now + Self.lifetime
  }

  /// The next answer; nil for another client, after the last one, and after the time limit.
  mutating func next(_ kind: Kind, for channel: UInt32, at now: UInt64) -> CBORValue? {
    guard kind == self.kind, channel == self.channel, now < deadline else { return nil }
    deadline = now + Self.lifetime
    return answers.popFirst()
  }
}
