import Primitives
package import SecretModel

/// The meaning of a file's path in a repository.
package enum SyncPath: Sendable, Hashable {
  /// The version of the format.
  case format
  /// The record of members with this number, from 1.
  case circle(Int)
  /// A machine's request to join.
  case request(MemberID)
  /// A member's answer to that request.
  case answer(MemberID)
  /// The machine's ``JoinOpening``.
  case opening(MemberID)
  /// The machine's ``JoinConsent``.
  case consent(MemberID)
  /// The ``MemberHead`` of a member.
  case head(MemberID)
  /// A record of an item.
  case item([UInt8])

  /// The contents of ``format``.
  package static let formatLine = Array("\(SyncFile.formatLine)\n".utf8)
  /// The contents of ``format`` in a repository of the first format.
  package static let earlierFormatLine = Array("\(SyncFile.earlierFormatLine)\n".utf8)
  private static let nameCount = 32
  private static let epochLimit = Int(Int32.max)

  /// Nil for every other path.
  package init?(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    switch (parts.first, parts.count) {
    case ("format", 1): self = .format
    case ("circle", 2):
      guard let epoch = OutsideNumber(digits: parts[1])?.number(in: 1...Self.epochLimit),
        SyncFile.circleRecord(epoch) == path
      else { return nil }
      self = .circle(epoch)
    case ("requests", 2): if let id = MemberID(parts[1]) { self = .request(id) } else { return nil }
    case ("answers", 2): if let id = MemberID(parts[1]) { self = .answer(id) } else { return nil }
    case ("openings", 2): if let id = MemberID(parts[1]) { self = .opening(id) } else { return nil }
    case ("consents", 2): if let id = MemberID(parts[1]) { self = .consent(id) } else { return nil }
    case ("heads", 2): if let id = MemberID(parts[1]) { self = .head(id) } else { return nil }
    case ("items", 3):
      guard parts[1].utf8.count == 2, let name = Self.name(parts[1] + parts[2]), name.count == Self.nameCount else {
        return nil
      }
      self = .item(name)
    default: return nil
    }
  }

  package var text: String {
    switch self {
    case .format: "format"
    case .circle(let epoch): SyncFile.circleRecord(epoch)
    case .request(let id): "requests/\(id)"
    case .answer(let id): "answers/\(id)"
    case .opening(let id): "openings/\(id)"
    case .consent(let id): "consents/\(id)"
    case .head(let id): "heads/\(id)"
    case .item(let name): "items/\(Hexadecimal.text(of: name.prefix(1)))/\(Hexadecimal.text(of: name.dropFirst()))"
    }
  }

  /// The order in which files are taken: lists of members first, then the messages of machines that ask, items last.
  package static func comesBefore(_ one: SyncFile, _ other: SyncFile) -> Bool {
    (rank(one.path), one.path) < (rank(other.path), other.path)
  }

  private static func rank(_ path: String) -> Int {
    switch SyncPath(path) {
    case .format, nil: 0
    case .circle: 1
    case .request: 2
    case .answer: 3
    case .opening: 4
    case .consent: 5
    case .head: 6
    case .item: 7
    }
  }

  /// The bytes of hexadecimal digits in lower case.
  private static func name(_ text: String) -> [UInt8]? { text.lowercased() == text ? Hexadecimal.bytes(in: text) : nil }
}
