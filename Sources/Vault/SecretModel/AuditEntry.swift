/// An entry of the service's log: what a program requested, what the person was asked for, and the result. It contains
/// no secret, no attribute of an item and no data of a finger.
package struct AuditEntry: Sendable, Hashable {
  /// The kind of request.
  package enum Request: String, Sendable, Hashable, CaseIterable {
    case makeStore = "make-store"
    case rebuildDeviceKey = "rebuild-device-key"
    case read = "read"
    case add = "add"
    case change = "change"
    case delete = "delete"
    case useKey = "use-key"
    case makePasskey = "make-passkey"
    case assertPasskey = "assert-passkey"
    case evaluate = "evaluate"
    case enroll = "enroll"
    case unenroll = "unenroll"
    case unlock = "unlock"
    case lock = "lock"
    case changePasscode = "change-passcode"
    case removePasscode = "remove-passcode"
    case recover = "recover"
    case newRecoveryKey = "new-recovery-key"
    case reseal = "reseal"
    case setFirstUnlock = "set-first-unlock"
    case acceptRestore = "accept-restore"
    case sealCopy = "seal-copy"
    case backUp = "back-up"
    case restore = "restore"
    case useAdapter = "use-adapter"
    case joinCircle = "join-circle"
    case changeCircle = "change-circle"
    case resolve = "resolve"
    case verifyLogin = "verify-login"
    /// The password of a login, or a new one of the account, was compared with the passcode.
    case loginPassword = "login-password"
  }

  /// What the person was asked for.
  package enum Prompt: String, Sendable, Hashable, CaseIterable {
    case touch = "touch"
    case passcode = "passcode"
    case newPasscode = "new-passcode"
    case recoveryKey = "recovery-key"
    case applicationPassword = "application-password"
  }

  /// The result of the request.
  package enum Outcome: Sendable, Hashable {
    case done
    case failed(VaultErrorName)
    /// Another program of the user ended the request, to use the reader itself.
    case rejected
  }

  /// The number of the entry in its store's log, from 1; 0 before it is in the log.
  package var number: Int
  /// Seconds since 1970.
  package var time: Int64
  /// The name of the program, which does not prove its identity. Nil if it has none.
  package var program: String?
  /// Its process ID; nil if that is not known.
  package var process: Int?
  /// The program for which it claims to make the request; nil if for itself.
  package var behalf: String?
  package var request: Request
  /// The items of the request, as far as they are known.
  package var items: [ItemID]
  /// What the person was asked for, each kind once.
  package var prompts: [Prompt]
  /// The number of wrong passcodes.
  package var wrongPasscodes: Int
  /// The number of touches that matched no finger.
  package var unmatchedTouches: Int
  /// Whether the enrolled fingers were changed, by this request or, before it, by another program.
  package var isSetChanged: Bool
  package var outcome: Outcome
  /// The number of earlier requests without an entry, since entries without a prompt are limited.
  package var omitted: Int

  package init(
    number: Int = 0, time: Int64, program: String?, process: Int?, behalf: String? = nil,
    request: Request, items: [ItemID] = [], prompts: [Prompt] = [], wrongPasscodes: Int = 0, unmatchedTouches: Int = 0,
    isSetChanged: Bool = false,
    outcome: Outcome, omitted: Int = 0
  ) {
    self.number = number
    self.time = time
    self.program = program
    self.process = process
    self.behalf = behalf
    self.request = request
    self.items = items
    self.prompts = prompts
    self.wrongPasscodes = wrongPasscodes
    self.unmatchedTouches = unmatchedTouches
    self.isSetChanged = isSetChanged
    self.outcome = outcome
    self.omitted = omitted
  }
}

extension AuditEntry.Outcome: RawRepresentable {
  /// `done`, `Rejected`, or the name of the error.
  package var rawValue: String {
    switch self {
    case .done: "done"
    case .failed(let name): name.word
    case .rejected: "Rejected"
    }
  }

  package init?(rawValue: String) {
    switch rawValue {
    case "done": self = .done
    case "Rejected": self = .rejected
    default:
      guard let name = VaultErrorName(word: rawValue) else { return nil }
      self = .failed(name)
    }
  }
}

/// Selects entries of the log. The oldest come first.
package struct AuditSearch: Sendable, Hashable {
  /// The most entries of one answer.
  package static let limit = 1_000

  /// Only those with a greater number.
  package var after = 0
  /// Only those from this time on, in seconds since 1970.
  package var since: Int64 = 0
  /// Only these kinds of request; all if empty.
  package var requests: [AuditEntry.Request] = []
  /// At most this many entries, the newest.
  package var last = limit

  package init() {}

  /// Whether the entry meets the conditions, apart from the limit.
  package func includes(_ entry: AuditEntry) -> Bool {
    entry.number > after && entry.time >= since && (requests.isEmpty || requests.contains(entry.request))
  }
}

/// The log of the requests to one store.
package protocol AuditLog: Sendable {
  /// Records an entry. Returns before it is written, and does not block.
  func record(_ entry: AuditEntry)
  /// The kept entries, with every entry recorded before this call.
  func entries(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry]
}
