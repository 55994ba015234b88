internal import SDBus
internal import SecretModel
internal import SecureMemory

/// Files of a repository as two arguments: their paths and places, and one memory file with the contents of all. A file
/// that the repository does not have is at -1.
struct SyncFilesOnBus {
  let files: [SyncFile]

  init(_ files: [SyncFile]) { self.files = files }

  /// The most files of one call.
  private static let limit = 20_000

  var busValues: [BusValue] {
    get throws(VaultError) {
      do throws(SealedFile.Failure) {
        var writer = try SealedFile.Writer()
        var entries: [BusValue] = []
        for file in files {
          guard let contents = file.contents else {
            entries.append(.structure([.string(file.path), (-1).busValue, 0.busValue]))
            continue
          }
          let place = try writer.append(SecretBytes(copying: contents.span))
          entries.append(.structure([.string(file.path), place.offset.busValue, place.count.busValue]))
        }
        return [.array(of: "(sxx)", entries), .descriptor(BusDescriptor(taking: try writer.seal().release()))]
      } catch {
        throw VaultError(error)
      }
    }
  }

  init(bus entries: BusValue, _ contents: BusValue) throws(VaultError) {
    guard case .array("(sxx)", let entries) = entries, entries.count <= Self.limit else { throw .unreadable(Self.self) }
    let file: SealedFile
    do throws(SealedFile.Failure) {
      file = try SealedFile(contents, limit: SyncFile.pageLimit + SyncFile.sizeLimit)
    } catch {
      throw VaultError(error)
    }
    var files: [SyncFile] = []
    // Refuse overlapping places, as for secrets.
    var room = file.count
    for entry in entries {
      guard let parts = entry.asStructure, parts.count == 3, let path = parts[0].asString else {
        throw .unreadable(Self.self)
      }
      guard try Int(bus: parts[1]) >= 0 else {
        files.append(SyncFile(path, nil))
        continue
      }
      let place = try SealedFile.Place(bus: parts[1], parts[2])
      guard place.count <= room, place.count <= SyncFile.sizeLimit else { throw .unreadable(Self.self) }
      room -= place.count
      do throws(SealedFile.Failure) {
        files.append(SyncFile(path, try file.secret(at: place).withUnsafeBytes { Array($0) }))
      } catch {
        throw VaultError(error)
      }
    }
    self.files = files
  }
}

extension MemberID: BusCodable {
  static var busSignature: String { "s" }
  var busValue: BusValue { .string(description) }
  init(bus value: BusValue) throws(VaultError) {
    guard let text = value.asString, let id = MemberID(text) else { throw .unreadable(Self.self) }
    self = id
  }
}

extension SyncStatus.Standing: BusCodable {}
extension SyncStatus.Waiting.Reason: BusCodable {}

extension SyncMember: BusCodable {
  static var busSignature: String { "(saybassbb)" }
  var busValue: BusValue {
    .structure([
      id.busValue, name.busValue, isThisMachine.busValue, .words(words), .string(tier?.rawValue ?? ""),
      hasPasscode.busValue, hasAgreed.busValue,
    ])
  }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 7 else { throw .unreadable(Self.self) }
    self.init(
      id: try MemberID(bus: parts[0]), name: try String(bus: parts[1]), isThisMachine: try Bool(bus: parts[2]),
      words: try Words(bus: parts[3]).words, tier: VaultStatus.Tier(rawValue: try Word(bus: parts[4]).word),
      hasPasscode: try Bool(bus: parts[5]), hasAgreed: try Bool(bus: parts[6]))
  }
}

extension SyncStatus.Waiting: BusCodable {
  static var busSignature: String { "((ayay)s)" }
  var busValue: BusValue { .structure([item.busValue, reason.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
    self.init(item: try ItemName(bus: parts[0]), reason: try Reason(bus: parts[1]))
  }
}

extension SyncStatus.Kept: BusCodable {
  static var busSignature: String { "(s(ayay)ayd)" }
  var busValue: BusValue { .structure([.string(id), item.busValue, writer.busValue, written.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 4 else { throw .unreadable(Self.self) }
    self.init(
      id: try Word(bus: parts[0]).word, item: try ItemName(bus: parts[1]), writer: try String(bus: parts[2]),
      written: try Double(bus: parts[3]))
  }
}

extension SyncStatus.MemberChange: BusCodable {
  static var busSignature: String { "(ayaayaay)" }
  var busValue: BusValue { .structure([by.busValue, added.busValue, removed.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 3 else { throw .unreadable(Self.self) }
    self.init(by: try String(bus: parts[0]), added: try [String](bus: parts[1]), removed: try [String](bus: parts[2]))
  }
}

extension SyncStatus: BusCodable {
  static var busSignature: String { "a{sv}" }
  var busValue: BusValue {
    .record([
      "standing": standing.busValue, "circle": circle.map { .string($0) }, "members": members.busValue,
      "candidates": candidates.busValue, "words": .words(words), "agreed": hasAgreed.busValue,
      "unconfirmed": unconfirmed.busValue, "locked": isLocked.busValue, "forked": isForked.busValue,
      "items": items.busValue, "pending": pending.busValue,
      "waiting": waiting.busValue, "kept": kept.busValue, "lost": lost.busValue,
    ])
  }
  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      standing: try record.take("standing"), circle: try record.takeIfPresent("circle", as: Word.self)?.word,
      members: try record.take("members"), candidates: try record.take("candidates"),
      words: try record.take("words", as: Words.self).words, hasAgreed: try record.take("agreed"),
      unconfirmed: try record.take("unconfirmed"), isLocked: try record.take("locked"),
      isForked: try record.take("forked"), items: try record.take("items"),
      pending: try record.take("pending"), waiting: try record.take("waiting"), kept: try record.take("kept"),
      lost: try record.take("lost"))
  }
}

extension SyncReceipt.Refusal: BusCodable {
  static var busSignature: String { "(say)" }
  var busValue: BusValue { .structure([.string(path), reason.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
    self.init(path: try Word(bus: parts[0]).word, reason: try String(bus: parts[1]))
  }
}

extension SyncReceipt: BusCodable {
  static var busSignature: String { "a{sv}" }
  var busValue: BusValue {
    .record([
      "changed": changed.busValue, "removed": removed.busValue, "kept": kept.busValue, "refused": refused.busValue,
      "went-back": wentBack.busValue, "mixed": isMixed.busValue,
    ])
  }
  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      changed: try record.take("changed"), removed: try record.take("removed"), kept: try record.take("kept"),
      refused: try record.take("refused"), wentBack: try record.take("went-back"), isMixed: try record.take("mixed"))
  }
}

/// Three arguments: what is to be done, with which machine, and in the place of which one.
extension SyncMemberChange {
  var busValues: [BusValue] {
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

  init(bus what: BusValue, _ machine: BusValue, _ replaced: BusValue) throws(VaultError) {
    switch what.asString {
    case "answer": self = .answer(try MemberID(bus: machine))
    case "agree": self = .agree
    case "approve":
      self = .approve(
        try MemberID(bus: machine), replacing: replaced.asString == "" ? nil : try MemberID(bus: replaced))
    case "refuse": self = .refuse(try MemberID(bus: machine))
    case "remove": self = .remove(try MemberID(bus: machine))
    case "confirm": self = .confirm
    case "reject": self = .reject
    case "leave": self = .leave
    default: throw .unreadable(Self.self)
    }
  }
}

/// Three arguments: what is to be done, with which version, and with the item of which name.
extension SyncResolution {
  private static let nobody = ItemName(unchecked: "", account: "")

  var busValues: [BusValue] {
    switch self {
    case .use(let id): [.string("use"), .string(id), Self.nobody.busValue]
    case .drop(let id): [.string("drop"), .string(id), Self.nobody.busValue]
    case .bind(let name): [.string("bind"), .string(""), name.busValue]
    case .open: [.string("open"), .string(""), Self.nobody.busValue]
    }
  }
  init(bus what: BusValue, _ id: BusValue, _ name: BusValue) throws(VaultError) {
    switch what.asString {
    case "use": self = .use(kept: try Word(bus: id).word)
    case "drop": self = .drop(kept: try Word(bus: id).word)
    case "bind": self = .bind(try ItemName(bus: name))
    case "open": self = .open
    default: throw .unreadable(Self.self)
    }
  }
}
