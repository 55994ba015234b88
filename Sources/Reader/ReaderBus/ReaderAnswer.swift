package import Fingerprint
package import SDBus

/// An answer of the reader process to a ``ReaderRequest``.
package enum ReaderAnswer: Sendable {
  case done
  case readers([ReaderDescription])
  case reader(ReaderDescription)
  case template(Template)
  case scan(ScanAnswer)
  case capture(CaptureOutcome)
  case chip(ChipList)

  /// The maximum number of readers in a list.
  package static let mostReaders = 64
  /// The size limit of a template in bytes. Those of libfprint have some kilobytes.
  package static let largestTemplate = 1 << 20

  package var values: [BusValue] {
    switch self {
    case .done: []
    case .readers(let readers): [.array(of: "a{sv}", readers.map(\.busValue))]
    case .reader(let reader): [reader.busValue]
    case .template(let template): [.bytes(template.bytes)]
    case .scan(let answer): answer.busValues
    case .capture(let outcome): outcome.busValues
    case .chip(let list):
      [
        .array(of: "ay", list.present.map { .bytes($0.bytes) }),
        .array(of: "ay", list.unknown.map { .bytes($0.bytes) }),
      ]
    }
  }

  /// Reads the answer to a request. Nil if the values are not an answer to it, or larger than one.
  package init?(to request: ReaderRequest, _ values: [BusValue]) {
    guard values.map(\.signature).joined() == request.method.results else { return nil }
    switch request {
    case .close, .delete, .clearStorage, .suspend, .resume, .cancel:
      self = .done
    case .readers:
      guard let entries = values[0].asArray, entries.count <= Self.mostReaders else { return nil }
      let readers = entries.compactMap { ReaderDescription($0) }
      guard readers.count == entries.count else { return nil }
      self = .readers(readers)
    case .open, .prepare:
      guard let reader = ReaderDescription(values[0]) else { return nil }
      self = .reader(reader)
    case .enroll:
      guard let bytes = values[0].asBytes, bytes.count <= Self.largestTemplate else { return nil }
      self = .template(Template(bytes: bytes))
    case .identify, .verify:
      guard let answer = ScanAnswer(values) else { return nil }
      self = .scan(answer)
    case .capture(let includingImage):
      guard let outcome = CaptureOutcome(values, includingImage: includingImage) else { return nil }
      self = .capture(outcome)
    case .storedPrints:
      guard let present = values[0].asArray, let unknown = values[1].asArray else { return nil }
      self = .chip(
        ChipList(
          present: Set(present.compactMap { $0.asBytes.map(EnrolmentID.init(bytes:)) }),
          unknown: unknown.compactMap { $0.asBytes.map(Template.init(bytes:)) }))
    }
  }
}

extension ScanAnswer {
  // nonce, outcome, the matched enrolment, the reason of a retry, when it finished
  fileprivate var busValues: [BusValue] {
    var id: [UInt8] = []
    var reason = ""
    let word: String
    switch outcome {
    case .match(let enrolment):
      word = "match"
      id = enrolment.bytes
    case .noMatch: word = "no-match"
    case .retry(let why):
      word = "retry"
      reason = why.rawValue
    }
    return [.bytes(nonce.bytes), .string(word), .bytes(id), .string(reason), .uint64(finishedAt)]
  }

  fileprivate init?(_ values: [BusValue]) {
    guard values.count == 5, let nonce = values[0].asBytes, let word = values[1].asString,
      let id = values[2].asBytes, let reason = values[3].asString, let finishedAt = values[4].asIdentifier(UInt64.self)
    else { return nil }
    let outcome: ScanOutcome
    switch word {
    case "match" where !id.isEmpty: outcome = .match(EnrolmentID(bytes: id))
    case "no-match" where id.isEmpty: outcome = .noMatch
    case "retry" where id.isEmpty:
      guard let why = RetryReason(rawValue: reason) else { return nil }
      outcome = .retry(why)
    default: return nil
    }
    self.init(nonce: ScanNonce(bytes: nonce), outcome: outcome, finishedAt: finishedAt)
  }
}
