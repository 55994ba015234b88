internal import Fingerprint
internal import ReaderBus
internal import SDBus
internal import SecretModel

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
      let word = arguments[2].asString, arguments[3].asDictionary != nil
    else { return nil }
    self.context = ContextHandle(bytes: context)
    self.number = number
    if let event = try? AuthenticationEvent(word, arguments[3]) {
      kind = .event(event)
    } else {
      kind = word == AuthenticationEvent.question ? .unknownQuestion : .unknown
    }
  }
}

extension NumberedEvent {
  /// The arguments of the signal `Event`.
  func busValues(in context: ContextHandle) -> [BusValue] {
    let (word, details) = event.busForm
    return [context.busValue, number.busValue, .string(word), .record(details)]
  }
}

extension AuthenticationEvent {
  /// The name of events that ask for a secret.
  fileprivate static let question = "secret-wanted"

  fileprivate var busForm: (word: String, details: [String: BusValue?]) {
    switch self {
    case .touchWanted(let request): ("touch-wanted", request.busEntries)
    case .fingerPresent(let present): ("finger-present", ["present": present.busValue])
    case .retry(let reason): ("retry", ["reason": reason.busValue])
    case .noMatch(let remaining): ("no-match", ["remaining": remaining.busValue])
    case .matched: ("matched", [:])
    case .enrolmentStage(let completed, let count):
      ("enrolment-stage", ["completed": completed.busValue, "count": count.busValue])
    case .fingerUnavailable(let error): ("finger-unavailable", ["error": error.busValue])
    case .secretWanted(let request): (Self.question, request.busEntries)
    case .notice(let notice): ("notice", notice.busEntries)
    }
  }

  fileprivate init(_ word: String, _ details: BusValue) throws(VaultError) {
    var record = try BusRecord(details, of: Self.self)
    switch word {
    case "touch-wanted": self = .touchWanted(try TouchRequest(&record))
    case "finger-present": self = .fingerPresent(try record.take("present"))
    case "retry": self = .retry(try record.take("reason"))
    case "no-match": self = .noMatch(remaining: try record.take("remaining"))
    case "matched": self = .matched
    case "enrolment-stage":
      self = .enrolmentStage(completed: try record.take("completed"), of: try record.take("count"))
    case "finger-unavailable": self = .fingerUnavailable(try record.take("error"))
    case Self.question: self = .secretWanted(try SecretRequest(&record))
    case "notice": self = .notice(try Notice(&record))
    default: throw .unreadable(Self.self)
    }
  }
}

extension TouchRequest {
  fileprivate var busEntries: [String: BusValue?] {
    var entries: [String: BusValue?] = [
      "reader": reader.busValue, "passcode-instead": passcodeInstead.busValue,
      "only-reader": isOnlyReader.busValue, "awaits-prompt": awaitsPrompt.busValue,
    ]
    switch purpose {
    case .read(let items, let reason):
      entries["purpose"] = .string("read")
      entries["items"] = items.busValue
      entries["reason"] = reason?.busValue
    case .evaluate(let reason):
      entries["purpose"] = .string("evaluate")
      entries["reason"] = reason?.busValue
    case .enroll(let finger):
      entries["purpose"] = .string("enroll")
      entries["finger"] = finger.busValue
    case .confirm(let finger):
      entries["purpose"] = .string("confirm")
      entries["finger"] = finger.busValue
    }
    return entries
  }

  fileprivate init(_ record: inout BusRecord) throws(VaultError) {
    let purpose: Purpose
    switch try record.take("purpose", as: Word.self).word {
    case "read": purpose = .read(items: try record.take("items"), reason: try record.takeIfPresent("reason"))
    case "evaluate": purpose = .evaluate(reason: try record.takeIfPresent("reason"))
    case "enroll": purpose = .enroll(try record.take("finger"))
    case "confirm": purpose = .confirm(try record.take("finger"))
    default: throw .unreadable(Self.self)
    }
    self.init(
      purpose: purpose, reader: try record.take("reader"), passcodeInstead: try record.take("passcode-instead"),
      isOnlyReader: try record.takeIfPresent("only-reader") ?? false,
      awaitsPrompt: try record.takeIfPresent("awaits-prompt") ?? false)
  }
}

extension SecretRequest {
  fileprivate var busEntries: [String: BusValue?] {
    switch self {
    case .passcode(let attempt): ["secret": .string("passcode"), "attempt": attempt.busValue]
    case .newPasscode: ["secret": .string("new-passcode")]
    case .recoveryKey: ["secret": .string("recovery-key")]
    case .applicationPassword(let name): ["secret": .string("application-password"), "item": name.busValue]
    }
  }

  fileprivate init(_ record: inout BusRecord) throws(VaultError) {
    switch try record.take("secret", as: Word.self).word {
    case "passcode": self = .passcode(attempt: try record.take("attempt"))
    case "new-passcode": self = .newPasscode
    case "recovery-key": self = .recoveryKey
    case "application-password": self = .applicationPassword(try record.take("item"))
    default: throw .unreadable(Self.self)
    }
  }
}

extension Notice {
  fileprivate var busEntries: [String: BusValue?] {
    switch self {
    case .unknownPrintsOnChip(let count): ["notice": .string("unknown-prints-on-chip"), "count": count.busValue]
    case .goneFromChip(let fingers): ["notice": .string("gone-from-chip"), "fingers": fingers.busValue]
    case .changedElsewhere(let fingers, let lost):
      ["notice": .string("changed-elsewhere"), "fingers": fingers.busValue, "lost": lost.busValue]
    case .leftOnChip(let finger, let error):
      ["notice": .string("left-on-chip"), "finger": finger.busValue, "error": error.busValue]
    case .passcodeDelay(let seconds): ["notice": .string("passcode-delay"), "seconds": seconds.busValue]
    case .readerInUse(.program(let name, let items)):
      ["notice": .string("reader-in-use"), "user": .string("same"), "program": name?.busValue, "items": items.busValue]
    case .readerInUse(.otherVault): ["notice": .string("reader-in-use"), "user": .string("same-elsewhere")]
    case .unanswered: ["notice": .string("unanswered")]
    case .rejected(let program): ["notice": .string("rejected"), "program": program?.busValue]
    case .readerInUse(.anotherUser): ["notice": .string("reader-in-use"), "user": .string("another")]
    }
  }

  fileprivate init(_ record: inout BusRecord) throws(VaultError) {
    switch try record.take("notice", as: Word.self).word {
    case "unknown-prints-on-chip": self = .unknownPrintsOnChip(try record.take("count"))
    case "gone-from-chip": self = .goneFromChip(try record.take("fingers"))
    case "changed-elsewhere": self = .changedElsewhere(try record.take("fingers"), lost: try record.take("lost"))
    case "left-on-chip": self = .leftOnChip(try record.take("finger"), try record.take("error"))
    case "passcode-delay": self = .passcodeDelay(try record.take("seconds"))
    case "reader-in-use":
      switch try record.take("user", as: Word.self).word {
      case "same":
        self = .readerInUse(.program(try record.takeIfPresent("program"), items: try record.take("items")))
      case "same-elsewhere": self = .readerInUse(.otherVault)
      case "another": self = .readerInUse(.anotherUser)
      default: throw .unreadable(Self.self)
      }
    case "unanswered": self = .unanswered
    case "rejected": self = .rejected(by: try record.takeIfPresent("program"))
    default: throw .unreadable(Self.self)
    }
  }
}
