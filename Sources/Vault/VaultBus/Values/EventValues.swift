internal import Primitives
internal import ReaderBus
package import SDBus
package import SecretModel

extension ContextHandle: BusBytes {}
extension ContextEnd: BusCodable {}
extension ContextOptions.Fallback: BusCodable {}

extension ContextOptions: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      interactionNotAllowed: try f("interaction-not-allowed", \.interactionNotAllowed),
      timeout: try f("timeout", \.timeout), preferPasscode: try f("prefer-passcode", \.preferPasscode),
      passcodeSupplied: try f("passcode-supplied", \.passcodeSupplied))
    fallback = try f("fallback", \.fallback)
    keepsEvidence = try f("keeps-evidence", \.keepsEvidence)
    reuseDuration = try f("reuse", \.reuseDuration)
    allowsGuessablePasscode = try f("allows-guessable-passcode", \.allowsGuessablePasscode, usually: false)
  }
}

extension Asking: StrictBusRecord {
  /// The most bytes of a reason. The vault keeps it while it asks.
  private static let reasonLimit = 65_536
  /// The most bytes of the name of another program, which the log keeps.
  private static let behalfLimit = 1_024

  package init(_ f: inout Fields<Self>) throws {
    self.init(
      in: try f("context", \.context), options: try f("options", \.options), reason: try f("reason", \.reason),
      behalf: try f("behalf", \.behalf))
  }

  package func check() throws {
    guard reason?.utf8.count ?? 0 <= Self.reasonLimit else {
      throw VaultError.invalidRequest("a reason has at most \(Self.reasonLimit) bytes")
    }
    guard let behalf else { return }
    guard behalf.utf8.count <= Self.behalfLimit, !behalf.hasControlCharacters else {
      throw VaultError.invalidRequest(
        "the name of a program has at most \(Self.behalfLimit) bytes and no control characters")
    }
  }
}

/// What a context is to prove: a policy or an access control.
extension Proof: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    let policy = try f.word("policy") { proof -> String? in
      switch proof {
      case .policy(.biometrics): "biometrics"
      case .policy(.deviceOwner): "device-owner"
      case .access: nil
      }
    }
    let access: AccessControl? = try f("access") { if case .access(let access) = $0 { access } else { nil } }
    switch (policy, access) {
    case ("biometrics", nil): self = .policy(.biometrics)
    case ("device-owner", nil): self = .policy(.deviceOwner)
    case (let word?, nil): throw BusValueError.unknownField(word, of: "\(Self.self)")
    case (nil, let access?): self = .access(access)
    default: throw f.mismatch()
    }
  }
}

// MARK: Events

/// The arguments of the signal `Event`.
struct BusEvent {
  let context: ContextHandle
  let number: Int
  let kind: Kind

  /// An event as this program understands it; the vault may be newer.
  enum Kind {
    case event(AuthenticationEvent)
    /// It asks for an unknown kind of secret: the question must be declined.
    case unknownQuestion
    /// It is unknown, and expects no answer.
    case unknown
  }

  /// Nil if the arguments are not those of the signal.
  init?(_ arguments: [BusValue]) {
    guard arguments.count == 4, let context = arguments[0].asBytes, let number = try? Int(bus: arguments[1]),
      let word = arguments[2].asString, var details = arguments[3].asDictionary
    else { return nil }
    self.context = ContextHandle(bytes: context)
    self.number = number
    details[AuthenticationEvent.kindKey] = .string(word)
    if let event = try? AuthenticationEvent(bus: .dictionary(details)) {
      kind = .event(event)
    } else {
      kind = word == AuthenticationEvent.question ? .unknownQuestion : .unknown
    }
  }
}

extension NumberedEvent {
  /// The arguments of the signal `Event`.
  func busValues(in context: ContextHandle) -> [BusValue] {
    var details = event.busValue.asDictionary ?? [:]
    let word = details.removeValue(forKey: AuthenticationEvent.kindKey) ?? .string("")
    return [context.busValue, number.busValue, word, .dictionary(details)]
  }
}

/// The word of the kind is an argument of the signal, and so not among the entries of its record.
extension AuthenticationEvent: BusChoice {
  package static var kindKey: String { "event" }
  /// The word of events that ask for a secret.
  static let question = "secret-wanted"

  package static let samples: [Self] = [
    .touchWanted(TouchRequest(purpose: .evaluate(reason: nil), reader: .sample, passcodeInstead: false)),
    .fingerPresent(false), .retry(.general), .noMatch(remaining: 0), .matched, .enrolmentStage(completed: 0, of: 0),
    .fingerUnavailable(.cancelled), .secretWanted(.recoveryKey), .notice(.unanswered),
  ]

  package func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .touchWanted(let request): .touchWanted(try f.among("touch-wanted", request))
    case .fingerPresent(let present): .fingerPresent(try f("finger-present", "present", present))
    case .retry(let reason): .retry(try f("retry", "reason", reason))
    case .noMatch(let remaining): .noMatch(remaining: try f("no-match", "remaining", remaining))
    case .matched: f.kind("matched", self)
    case .enrolmentStage(let completed, let count):
      .enrolmentStage(completed: try f("enrolment-stage", "completed", completed), of: try f("count", count))
    case .fingerUnavailable(let error): .fingerUnavailable(try f("finger-unavailable", "error", error))
    case .secretWanted(let request): .secretWanted(try f.among(Self.question, request))
    case .notice(let notice): .notice(try f.among("notice", notice))
    }
  }
}

extension TouchRequest: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      purpose: try f.among(\.purpose), reader: try f("reader", \.reader),
      passcodeInstead: try f("passcode-instead", \.passcodeInstead),
      isOnlyReader: try f("only-reader", \.isOnlyReader, usually: false),
      awaitsPrompt: try f("awaits-prompt", \.awaitsPrompt, usually: false))
  }
}

extension TouchRequest.Purpose: BusChoice {
  package static var kindKey: String { "purpose" }
  package static let samples: [Self] = [
    .read(items: [], reason: nil), .evaluate(reason: nil), .enroll(.leftThumb), .confirm(.leftThumb),
  ]

  package func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .read(let items, let reason): .read(items: try f("read", "items", items), reason: try f("reason", reason))
    case .evaluate(let reason): .evaluate(reason: try f("evaluate", "reason", reason))
    case .enroll(let finger): .enroll(try f("enroll", "finger", finger))
    case .confirm(let finger): .confirm(try f("confirm", "finger", finger))
    }
  }
}

extension SecretRequest: BusChoice {
  package static var kindKey: String { "secret" }
  package static let samples: [Self] = [
    .passcode(attempt: 0), .newPasscode, .recoveryKey, .applicationPassword(ItemName(unchecked: "", account: "")),
  ]

  package func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .passcode(let attempt): .passcode(attempt: try f("passcode", "attempt", attempt))
    case .newPasscode: f.kind("new-passcode", self)
    case .recoveryKey: f.kind("recovery-key", self)
    case .applicationPassword(let name): .applicationPassword(try f("application-password", "item", name))
    }
  }
}

extension Notice: BusChoice {
  package static var kindKey: String { "notice" }
  package static let samples: [Self] = [
    .unknownPrintsOnChip(0), .goneFromChip([]), .changedElsewhere([], lost: []), .leftOnChip(.leftThumb, .absent),
    .passcodeDelay(0), .readerInUse(.otherVault), .unanswered, .rejected(by: nil),
  ]

  package func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .unknownPrintsOnChip(let count): .unknownPrintsOnChip(try f("unknown-prints-on-chip", "count", count))
    case .goneFromChip(let fingers): .goneFromChip(try f("gone-from-chip", "fingers", fingers))
    case .changedElsewhere(let fingers, let lost):
      .changedElsewhere(try f("changed-elsewhere", "fingers", fingers), lost: try f("lost", lost))
    case .leftOnChip(let finger, let error):
      .leftOnChip(try f("left-on-chip", "finger", finger), try f("error", error))
    case .passcodeDelay(let seconds): .passcodeDelay(try f("passcode-delay", "seconds", seconds))
    case .readerInUse(let use): .readerInUse(try f.among("reader-in-use", use))
    case .unanswered: f.kind("unanswered", self)
    case .rejected(let program): .rejected(by: try f("rejected", "program", program))
    }
  }
}

extension ReaderUse: BusChoice {
  package static var kindKey: String { "user" }
  package static let samples: [Self] = [.program(nil, items: []), .otherVault, .anotherUser]

  package func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .program(let name, let items): .program(try f("same", "program", name), items: try f("items", items))
    case .otherVault: f.kind("same-elsewhere", self)
    case .anotherUser: f.kind("another", self)
    }
  }
}

// MARK: Responses

/// A response to an event: the word of its kind, the number of the event, and the secret or none.
struct ResponseOnBus: BusParts {
  private let word: Word
  private let event: Int
  private let files: [BusFile]

  private init(_ word: String, _ event: Int = 0, _ files: [BusFile] = []) {
    (self.word, self.event, self.files) = (Word(word), event, files)
  }

  static func declining(_ question: Int) -> Self { Self("decline", question) }

  init(_ response: consuming ContextResponse) {
    switch consume response {
    case .secret(let question, let secret):
      // If the secret cannot be sent, decline, so that the call that asks for it does not wait for ever.
      if let file = try? secret.sealedForItem() {
        self.init("secret", question, [file])
      } else {
        self = .declining(question)
      }
    case .decline(let question): self = .declining(question)
    case .ready(let question): self.init("ready", question)
    case .reject(let notice): self.init("reject", notice)
    case .fallback: self.init("fallback")
    case .cancel: self.init("cancel")
    }
  }

  func response() throws(VaultError) -> ContextResponse {
    switch word.word {
    case "secret":
      guard let file = files.first, files.count == 1 else { throw .unreadable("a response") }
      return .secret(question: event, try SecretBytes(sealed: file))
    case "decline": return .decline(question: event)
    case "ready": return .ready(question: event)
    case "reject": return .reject(notice: event)
    case "fallback": return .fallback
    case "cancel": return .cancel
    default: throw .versionMismatch("the vault does not know this response: it is older than this program")
    }
  }

  static var busSignature: String { "sxah" }
  static var places: Int { 3 }
  func busValues() -> [BusValue] { [word.busValue, event.busValue, files.busValue] }
  init(bus values: [BusValue]) throws {
    (word, event) = (try Word(bus: values[0]), try Int(bus: values[1]))
    files = try [BusFile](bus: values[2])
  }
}
