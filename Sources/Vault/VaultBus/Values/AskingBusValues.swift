internal import SDBus
internal import SecretModel

extension ContextOptions.Fallback: BusCodable {}
extension ContextEnd: BusCodable {}

extension ContextOptions: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "interaction-not-allowed": interactionNotAllowed.busValue, "timeout": timeout?.busValue,
      "prefer-passcode": preferPasscode.busValue, "passcode-supplied": passcodeSupplied.busValue,
      "fallback": fallback.busValue, "keeps-evidence": keepsEvidence.busValue, "reuse": reuseDuration.busValue,
      "allows-guessable-passcode": allowsGuessablePasscode.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      interactionNotAllowed: try record.take("interaction-not-allowed"),
      timeout: try record.takeIfPresent("timeout"), preferPasscode: try record.take("prefer-passcode"),
      passcodeSupplied: try record.take("passcode-supplied"))
    fallback = try record.take("fallback")
    keepsEvidence = try record.take("keeps-evidence")
    reuseDuration = try record.take("reuse")
    allowsGuessablePasscode = try record.takeIfPresent("allows-guessable-passcode") ?? false
    try record.end()
  }
}

extension Asking: BusCodable {
  static var busSignature: String { "a{sv}" }
  /// The most bytes of a reason. The vault keeps it while it asks.
  private static let reasonLimit = 65_536
  /// The most bytes of the name of another program, which the log keeps.
  private static let behalfLimit = 1_024

  var busValue: BusValue {
    .record([
      "context": context?.busValue, "options": options?.busValue, "reason": reason?.busValue,
      "behalf": behalf?.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      in: try record.takeIfPresent("context"), options: try record.takeIfPresent("options"),
      reason: try record.takeIfPresent("reason"), behalf: try record.takeIfPresent("behalf"))
    guard reason?.utf8.count ?? 0 <= Self.reasonLimit else {
      throw .invalidRequest("a reason has at most \(Self.reasonLimit) bytes")
    }
    if let behalf {
      guard behalf.utf8.count <= Self.behalfLimit, !behalf.hasControlCharacters else {
        throw .invalidRequest("the name of a program has at most \(Self.behalfLimit) bytes and no control characters")
      }
    }
    try record.end()
  }
}

extension Proof: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    switch self {
    case .policy(.biometrics): .record(["policy": .string("biometrics")])
    case .policy(.deviceOwner): .record(["policy": .string("device-owner")])
    case .access(let access): .record(["access": access.busValue])
    }
  }

  init(bus value: BusValue) throws(VaultError) {
    guard let entries = value.asDictionary, entries.count == 1, let (kind, wanted) = entries.first else {
      throw .unreadable(Self.self)
    }
    switch (kind, wanted.asString) {
    case ("policy", "biometrics"): self = .policy(.biometrics)
    case ("policy", "device-owner"): self = .policy(.deviceOwner)
    case ("access", _): self = .access(try AccessControl(bus: wanted))
    default: throw .versionMismatch("the vault does not know this proof (\(kind)): it is older than this program")
    }
  }
}
