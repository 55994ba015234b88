internal import Primitives
package import SDBus
package import SecretModel

// MARK: Files

/// Files of a repository as two arguments: their paths and places, and one memory file with the contents of all. A file
/// that the repository does not have is at -1.
struct SyncFilesOnBus: BusParts {
  let files: [SyncFile]

  init(_ files: [SyncFile]) { self.files = files }

  /// The most files of one call.
  private static let limit = 20_000

  private struct Entry: BusStructure {
    let path: String
    /// Nil for a file that is not there.
    let place: SealedFile.Place?

    init(path: String, place: SealedFile.Place?) { (self.path, self.place) = (path, place) }

    static var busSignature: String { "(sxx)" }
    init(_ f: inout Fields<Self>) throws {
      path = try f.word("path", \.path)
      let (offset, count) = (try f("offset") { $0.place?.offset ?? -1 }, try f("count") { $0.place?.count ?? 0 })
      place = offset < 0 ? nil : try SealedFile.Place(checking: offset, count)
    }
  }

  static var busSignature: String { "a(sxx)h" }
  static var places: Int { 2 }

  func busValues() throws -> [BusValue] {
    var writer = try SealedFile.Writer()
    let entries = try files.map { file in
      Entry(path: file.path, place: try file.contents.map { try writer.append(SecretBytes(copying: $0.span)) })
    }
    return [entries.busValue, .descriptor(BusDescriptor(taking: try writer.seal().release()))]
  }

  init(bus values: [BusValue]) throws {
    guard values[0].asArray?.count ?? 0 <= Self.limit else { throw BusValueError.unreadable(Self.self) }
    let entries = try [Entry](bus: values[0])
    let file = try SealedFile(try BusFile(bus: values[1]), limit: SyncFile.pageLimit + SyncFile.sizeLimit)
    var files: [SyncFile] = []
    // Refuse overlapping places, as for secrets.
    var room = file.count
    for entry in entries {
      guard let place = entry.place else {
        files.append(SyncFile(entry.path, nil))
        continue
      }
      guard place.count <= room, place.count <= SyncFile.sizeLimit else { throw BusValueError.unreadable(Self.self) }
      room -= place.count
      files.append(SyncFile(entry.path, try file.secret(at: place).withUnsafeBytes { Array($0) }))
    }
    self.files = files
  }
}

/// Files to publish, and after which path the next ones come; an empty one for none.
extension SyncBatch: BusParts, CarriesSecrets {
  package static var busSignature: String { SyncFilesOnBus.busSignature + "s" }
  package static var places: Int { SyncFilesOnBus.places + 1 }
  package func busValues() throws -> [BusValue] { try SyncFilesOnBus(files).busValues() + [.string(next ?? "")] }
  package init(bus values: [BusValue]) throws {
    let next = try Word(bus: values[2]).word
    self.init(files: try SyncFilesOnBus(bus: values).files, next: next.isEmpty ? nil : next)
  }

  var secretCount: Int { files.reduce(0) { $0 + ($1.contents?.count ?? 0) } }
}

extension SyncReceipt.Refusal: BusStructure {
  package static var busSignature: String { "(say)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(path: try f.word("path", \.path), reason: try f("reason", \.reason))
  }
}

extension SyncReceipt: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      changed: try f("changed", \.changed), removed: try f("removed", \.removed), kept: try f("kept", \.kept),
      refused: try f("refused", \.refused), wentBack: try f("went-back", \.wentBack), isMixed: try f("mixed", \.isMixed)
    )
  }
}

// MARK: Members

extension MemberID: BusCodable {
  package static var busSignature: String { "s" }
  package var busValue: BusValue { .string(description) }
  package init(bus value: BusValue) throws {
    guard let text = value.asString, let id = MemberID(text) else { throw BusValueError.unreadable(Self.self) }
    self = id
  }
}

extension SyncStatus.Standing: BusCodable {}
extension SyncStatus.Waiting.Reason: BusCodable {}

extension SyncMember: BusStructure {
  package static var busSignature: String { "(saybassbb)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      id: try f("id", \.id), name: try f("name", \.name), isThisMachine: try f("this-machine", \.isThisMachine),
      words: try f.words("words", \.words),
      tier: VaultStatus.Tier(rawValue: try f.word("tier") { $0.tier?.rawValue ?? "" }),
      hasPasscode: try f("passcode", \.hasPasscode), hasAgreed: try f("agreed", \.hasAgreed))
  }
}

extension SyncStatus.Waiting: BusStructure {
  package static var busSignature: String { "((ayay)s)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(item: try f("item", \.item), reason: try f("reason", \.reason))
  }
}

extension SyncStatus.Kept: BusStructure {
  package static var busSignature: String { "(s(ayay)ayd)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      id: try f.word("id", \.id), item: try f("item", \.item), writer: try f("writer", \.writer),
      written: try f("written", \.written))
  }
}

extension SyncStatus.MemberChange: BusStructure {
  package static var busSignature: String { "(ayaayaay)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(by: try f("by", \.by), added: try f("added", \.added), removed: try f("removed", \.removed))
  }
}

extension SyncStatus: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      standing: try f("standing", \.standing), circle: try f.word("circle", \.circle),
      members: try f("members", \.members), candidates: try f("candidates", \.candidates),
      words: try f.words("words", \.words), hasAgreed: try f("agreed", \.hasAgreed),
      unconfirmed: try f("unconfirmed", \.unconfirmed), isLocked: try f("locked", \.isLocked),
      isForked: try f("forked", \.isForked), items: try f("items", \.items), pending: try f("pending", \.pending),
      waiting: try f("waiting", \.waiting), kept: try f("kept", \.kept), lost: try f("lost", \.lost))
  }
}

// MARK: Changes

/// Three arguments: what is to be done, with which machine, and in the place of which one.
extension SyncMemberChange: BusParts {
  package static var busSignature: String { "sss" }
  package static var places: Int { 3 }

  package func busValues() -> [BusValue] {
    switch self {
    case .answer(let id): Self.words("answer", id)
    case .agree: Self.words("agree")
    case .approve(let id, let replaced): Self.words("approve", id, replaced)
    case .refuse(let id): Self.words("refuse", id)
    case .remove(let id): Self.words("remove", id)
    case .confirm: Self.words("confirm")
    case .reject: Self.words("reject")
    case .leave: Self.words("leave")
    }
  }

  private static func words(_ what: String, _ machine: MemberID? = nil, _ replaced: MemberID? = nil) -> [BusValue] {
    [.string(what), .string(machine?.description ?? ""), .string(replaced?.description ?? "")]
  }

  package init(bus values: [BusValue]) throws {
    func machine() throws -> MemberID { try MemberID(bus: values[1]) }
    switch values[0].asString {
    case "answer": self = .answer(try machine())
    case "agree": self = .agree
    case "approve":
      self = .approve(try machine(), replacing: values[2].asString == "" ? nil : try MemberID(bus: values[2]))
    case "refuse": self = .refuse(try machine())
    case "remove": self = .remove(try machine())
    case "confirm": self = .confirm
    case "reject": self = .reject
    case "leave": self = .leave
    default: throw BusValueError.unreadable(Self.self)
    }
  }
}

/// Three arguments: what is to be done, with which version, and with the item of which name.
extension SyncResolution: BusParts {
  package static var busSignature: String { "ss(ayay)" }
  package static var places: Int { 3 }
  private static let nobody = ItemName(unchecked: "", account: "")

  package func busValues() -> [BusValue] {
    switch self {
    case .use(let id): [.string("use"), .string(id), Self.nobody.busValue]
    case .drop(let id): [.string("drop"), .string(id), Self.nobody.busValue]
    case .bind(let name): [.string("bind"), .string(""), name.busValue]
    case .open: [.string("open"), .string(""), Self.nobody.busValue]
    }
  }

  package init(bus values: [BusValue]) throws {
    switch values[0].asString {
    case "use": self = .use(kept: try Word(bus: values[1]).word)
    case "drop": self = .drop(kept: try Word(bus: values[1]).word)
    case "bind": self = .bind(try ItemName(bus: values[2]))
    case "open": self = .open
    default: throw BusValueError.unreadable(Self.self)
    }
  }
}
