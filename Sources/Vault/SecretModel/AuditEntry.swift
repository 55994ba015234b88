// The log: an entry, the prompts that it counts, and its lines of JSON.

internal import FoundationEssentials
public import Primitives

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
    /// A finger was asked for to unlock the screen, by a program of the user.
    case unlockScreen = "unlock-screen"
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

/// Names an authentication context. It cannot be guessed, and is valid only in the vault that made it.
package struct ContextHandle: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The events of a context that authenticates or enrols. The prompt receives them in order.
public enum AuthenticationEvent: Sendable {
  /// A touch is wanted: ask for it. The reader is armed already, or will be when the prompt is shown.
  case touchWanted(TouchRequest)
  /// A finger is on the sensor, or has left it.
  case fingerPresent(Bool)
  /// The touch could not be read. It does not count as a failure.
  case retry(RetryReason)
  /// The touch was read and did not match. `remaining` touches are left in this request.
  case noMatch(remaining: Int)
  /// The touch matched one of the wanted fingers.
  case matched
  /// One enrolment stage is done.
  case enrolmentStage(completed: Int, of: Int)
  /// No finger can be asked for; the passcode is asked for next, if the item allows it.
  case fingerUnavailable(VaultError)
  /// A secret is wanted: answer, decline or cancel.
  case secretWanted(SecretRequest)
  /// Information for the person. The call continues.
  case notice(Notice)
}

/// The purpose of a touch.
public struct TouchRequest: Sendable {
  /// What the match will be used for. A match for one purpose is not used for another.
  public enum Purpose: Sendable {
    /// Reading these items, for the reason that the caller gives.
    case read(items: [ItemName], reason: String?)
    /// Evaluating a policy or an access control, without reading an item.
    case evaluate(reason: String?)
    /// Enrolling this finger.
    case enroll(Finger)
    /// The confirming touch at the end of an enrolment.
    case confirm(Finger)
  }

  /// Why the finger is asked for, for the prompt.
  public var purpose: Purpose
  /// The reader to touch.
  public var reader: ReaderDescription
  /// Whether the fallback may be chosen instead: the passcode or, under a policy without a passcode, the caller's own.
  public var passcodeInstead: Bool

  /// Whether no other attached reader could be confused with this one.
  package var isOnlyReader: Bool
  /// Whether the reader is armed only after the prompt has reported that it is shown (`ContextResponse.ready`).
  package var awaitsPrompt: Bool

  package init(
    purpose: Purpose, reader: ReaderDescription, passcodeInstead: Bool, isOnlyReader: Bool = false,
    awaitsPrompt: Bool = false
  ) {
    self.purpose = purpose
    self.reader = reader
    self.passcodeInstead = passcodeInstead
    self.isOnlyReader = isOnlyReader
    self.awaitsPrompt = awaitsPrompt
  }
}

/// A secret the vault needs from the person.
public enum SecretRequest: Sendable {
  /// The passcode; `attempt` counts from 1.
  case passcode(attempt: Int)
  /// A new passcode, which the person chooses.
  case newPasscode
  /// The recovery key that was shown when the passcode was set.
  case recoveryKey
  /// The password this item was stored under.
  case applicationPassword(ItemName)
}

/// Information for the person. No answer is expected.
public enum Notice: Sendable {
  /// The number of prints on the chip that this store does not know.
  case unknownPrintsOnChip(Int)
  /// The reader's chip no longer holds the prints of these enrolled fingers. Items bound to the set are closed.
  case goneFromChip([Finger])
  /// Another program changed fprintd's fingers: these were removed or enrolled again. The items bound to the set died.
  case changedElsewhere([Finger], lost: [ItemName])
  /// The print could not be removed from the chip, for this reason.
  case leftOnChip(Finger, ReaderError)
  /// The last wrong passcode starts a delay, in seconds.
  case passcodeDelay(Int)
  /// Another request is using the reader. This one waits for its turn.
  case readerInUse(ReaderUse)
  /// The person did not answer in time. The call ends with `timedOut`.
  case unanswered
  /// Another program of the user ended this request to use the reader itself. The value is its name, where known.
  case rejected(by: String?)
}

/// Who is using the reader while a request waits.
public enum ReaderUse: Sendable, Hashable {
  /// A program of the same user: its name, where known, and the items that it is about to read. It can be rejected.
  case program(String?, items: [ItemName])
  /// A program of the same user with a private vault. No more is known about it.
  case otherVault
  /// Another user's program, without details.
  case anotherUser
}

/// Counts a context's prompts, and the events for the log.
package struct EventTally: Sendable, Hashable {
  private var prompts: [AuditEntry.Prompt: Int] = [:]
  private var wrongPasscodes = 0
  private var unmatchedTouches = 0
  private var setChanges = 0
  private var rejections = 0

  package init() {}

  package mutating func count(_ event: AuthenticationEvent) {
    switch event {
    case .touchWanted: prompts[.touch, default: 0] += 1
    case .secretWanted(let request): prompts[request.prompt, default: 0] += 1
    case .noMatch: unmatchedTouches += 1
    case .notice(.changedElsewhere): setChanges += 1
    case .notice(.rejected): rejections += 1
    case .fingerPresent, .retry, .matched, .enrolmentStage, .fingerUnavailable, .notice: break
    }
  }

  package mutating func noteWrongPasscode() { wrongPasscodes += 1 }

  /// Fills a log entry with the difference to an earlier tally of the same context.
  package func describe(since earlier: EventTally, in entry: inout AuditEntry) {
    entry.prompts = AuditEntry.Prompt.allCases.filter { prompts[$0, default: 0] > earlier.prompts[$0, default: 0] }
    entry.wrongPasscodes = wrongPasscodes - earlier.wrongPasscodes
    entry.unmatchedTouches = unmatchedTouches - earlier.unmatchedTouches
    if setChanges > earlier.setChanges { entry.isSetChanged = true }
    if rejections > earlier.rejections, entry.outcome == .failed(.cancelled) { entry.outcome = .rejected }
  }
}

extension SecretRequest {
  fileprivate var prompt: AuditEntry.Prompt {
    switch self {
    case .passcode: .passcode
    case .newPasscode: .newPasscode
    case .recoveryKey: .recoveryKey
    case .applicationPassword: .applicationPassword
    }
  }
}

/// A line of JSON: one value, with sorted keys, and a newline. For data without secrets.
package enum JSONLine {
  package static func line(_ value: some Encodable) throws(VaultError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    } catch {
      throw .internalError("a line of JSON: \(error)")
    }
  }

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }()

  /// - Throws: `fileUnreadable` for anything else.
  package static func read<Value: Decodable>(
    _ line: [UInt8], as type: Value.Type = Value.self
  ) throws(VaultError) -> Value {
    do {
      return try decoder.decode(type, from: Data(line))
    } catch {
      throw .otherContents
    }
  }
}

extension VaultError {
  /// An encrypted file without items, or with some of a later version.
  package static let otherContents = fileUnreadable("it does not hold items of whorl, or those of a later version")
}

/// Bytes as base64 in JSON.
package struct JSONBytes: Codable, Sendable, Hashable {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package init(from decoder: any Decoder) throws {
    bytes = Array(try decoder.singleValueContainer().decode(Data.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes))
  }
}
