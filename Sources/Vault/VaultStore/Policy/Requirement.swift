internal import GRDB
internal import Keys
package import SecretModel

/// An access control as a list of alternatives. One alternative must be satisfied, with all of its factors.
package struct Requirement {
  package enum Factor: Hashable {
    /// A finger enrolled now.
    case finger
    /// A finger of the set the item was bound to, whose key is part of the wrapping.
    case boundFinger
    /// The passcode as a gate only: its key is not part of the wrapping.
    case passcodeGate
    /// The passcode, whose key is part of the wrapping.
    case passcode
  }

  package let alternatives: [Set<Factor>]

  package init(_ access: AccessControl) {
    let flags = access.flags
    if flags.contains(.userPresence) {
      alternatives = [[.finger], [.passcodeGate]]
      return
    }
    var factors: [Factor] = []
    if flags.contains(.biometryAny) { factors.append(.finger) }
    if flags.contains(.biometryCurrentSet) { factors.append(.boundFinger) }
    if flags.contains(.devicePasscode) { factors.append(.passcode) }
    alternatives = flags.contains(.or) && !factors.isEmpty ? factors.map { [$0] } : [Set(factors)]
  }

  private init(alternatives: [Set<Factor>]) { self.alternatives = alternatives }

  /// The alternatives without this factor.
  package func without(_ factor: Factor) -> Requirement {
    Requirement(alternatives: alternatives.filter { !$0.contains(factor) })
  }

  /// The alternatives without those that have these wrappings.
  package func without(_ wrappings: Set<Set<Factor>>) -> Requirement {
    Requirement(alternatives: alternatives.filter { !wrappings.contains(Self.wrapping(of: $0)) })
  }

  /// Whether one alternative needs no factor.
  package var isOpen: Bool { alternatives.contains([]) }

  /// Whether every alternative contains one of these factors.
  package func always(_ wanted: Factor...) -> Bool {
    alternatives.allSatisfy { !$0.isDisjoint(with: wanted) }
  }

  package func mentions(_ wanted: Factor...) -> Bool {
    alternatives.contains { !$0.isDisjoint(with: wanted) }
  }

  /// The combinations of keys under which the item's key is wrapped, each once.
  package var wrappings: [Set<Factor>] {
    var seen: [Set<Factor>] = []
    for alternative in alternatives {
      let keys = Self.wrapping(of: alternative)
      if !seen.contains(keys) { seen.append(keys) }
    }
    return seen
  }

  /// The factors of an alternative that have keys.
  package static func wrapping(of alternative: Set<Factor>) -> Set<Factor> {
    alternative.intersection([.boundFinger, .passcode])
  }
}

extension VaultError {
  /// The error for a failure of what the store stands on: SQLite, the cryptographic library, or the TPM. An error of the
  /// vault stays as it is.
  package init(cause error: any Error) {
    switch error {
    case let error as VaultError: self = error
    case let error as DatabaseError: self.init(database: error)
    case let error as KeysError: self.init(keys: error)
    case let error as TPMError: self.init(tpm: error)
    default: self = .internalError("\(type(of: error))")
    }
  }

  /// SQL arguments are never part of the text.
  private init(database error: DatabaseError) {
    let text = error.message ?? "SQLite error \(error.resultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy("another program has held the store for ten seconds")
    case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .storeDamaged(text)
    case .SQLITE_FULL: self = .diskFull("the store cannot be written")
    case .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: self = .inputOutput(text)
    default: self = .internalError(text)
    }
  }

  /// Callers handle expected authentication failures themselves,
  /// so one that gets here means damage.
  private init(keys error: KeysError) {
    switch error {
    case .authenticationFailed: self = .storeDamaged("a sealed part does not verify")
    case .badParameters(let what): self = .storeDamaged(what)
    default: self = .internalError("OpenSSL: \(error)")
    }
  }

  private init(tpm error: TPMError) {
    switch error {
    case .absent(let why): self = .tpm(.absent, detail: why)
    case .changed: self = .tpm(.changed, detail: "")
    case .lockedOut: self = .tpm(.lockedOut, detail: "")
    case .registersChanged: self = .tpm(.registersChanged, detail: "")
    case .ownerPassword: self = .tpm(.ownerPassword, detail: "")
    case .wrongAuthorization: self = .tpm(.refused, detail: "wrong authorization")
    case .refused(let what): self = .tpm(.refused, detail: what)
    }
  }
}
