package import Primitives
internal import ReaderBus
package import SDBus
package import SecretModel

// MARK: The store

extension VaultStatus.Tier: BusCodable {}
extension FirstUnlock: BusCodable {}
extension LosingChange: BusCodable {}
extension SessionRefusal: BusCodable {}

extension VaultStatus: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      directory: try f("directory", \.directory), tier: try f("tier", \.tier),
      passcodeSet: try f("passcode-set", \.passcodeSet), failures: try f("failures", \.failures),
      lockedOut: try f("locked-out", \.lockedOut), passcodeDelay: try f("passcode-delay", \.passcodeDelay),
      restore: try f("restore", \.restore), items: try f("items", \.items), sets: try f("sets", \.sets),
      damagedSets: try f("damaged-sets", \.damagedSets), adapter: try f("adapter", \.adapter),
      firstUnlock: try f("first-unlock", \.firstUnlock), openClasses: try f("open-classes", \.openClasses),
      passcodeDeadline: try f("passcode-deadline", \.passcodeDeadline), registers: try f("registers", \.registers))
  }
}

extension SetStatus: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      reader: try f("reader", \.reader), nature: try f("nature", \.nature), fingers: try f("fingers", \.fingers),
      digest: try f("digest", \.digest), boundItems: try f("bound-items", \.boundItems))
  }
}

extension EnrolledFinger: BusStructure {
  package static var busSignature: String { "(sbx)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      finger: try f("finger", \.finger), onChip: try f("on-chip", \.onChip), enrolled: try f("enrolled", \.enrolled))
  }
}

extension SetChange: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(finger: try f("finger", \.finger), fingers: try f("fingers", \.fingers), lost: try f("lost", \.lost))
  }
}

extension Biometry: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      hasReader: try f("has-reader", \.hasReader), problem: try f("problem", \.problem), state: try f("state", \.state),
      passcodeSet: try f("passcode-set", \.passcodeSet),
      isOutOfReach: try f("out-of-reach", \.isOutOfReach, usually: false))
  }
}

extension ReaderList: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      readers: try f("readers", \.readers), chosen: try f("chosen", \.chosen), problem: try f("problem", \.problem))
  }
}

extension Surroundings: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      changes: try f("changes", \.changes), locks: try f("locks", \.locks), refusal: try f("refusal", \.refusal))
  }
}

/// What a client knows of the surroundings already; an empty record for nothing.
struct KnownSurroundings: BusCodable {
  let known: Surroundings?

  init(_ known: Surroundings?) { self.known = known }

  private struct Record: StrictBusRecord {
    let known: Surroundings

    init(_ f: inout Fields<Self>) throws { known = try f.among(\.known) }
  }

  static var busSignature: String { Surroundings.busSignature }
  var busValue: BusValue { known?.busValue ?? .dictionary([:]) }
  init(bus value: BusValue) throws { known = value.asDictionary == [:] ? nil : try Record(bus: value).known }
}

// MARK: Its place, backups and restores

/// An empty record means the caller's own store in the service.
extension StorePlace: BusCodable {
  package static var busSignature: String { StoreFolder.busSignature }
  package var busValue: BusValue {
    switch self {
    case .own: .dictionary([:])
    case .folder(let folder): folder.busValue
    }
  }
  package init(bus value: BusValue) throws {
    self = value.asDictionary == [:] ? .own : .folder(try StoreFolder(bus: value))
  }
}

extension StoreFolder: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      directory: try f("directory", \.directory), reader: try f("reader", \.reader),
      readerProgram: try f("reader-program", \.readerProgram), fprintd: try f("fprintd", \.fprintd))
  }
}

/// The text of `--reader`, as bytes, since it may contain a path.
extension ReaderSelection: BusCodable {
  package static var busSignature: String { "ay" }
  package var busValue: BusValue { description.busValue }
  package init(bus value: BusValue) throws {
    guard let selection = ReaderSelection(try String(bus: value)) else { throw BusValueError.unreadable(Self.self) }
    self = selection
  }
}

/// The address of the bus and the folder of templates.
extension FprintdPlace: BusStructure {
  package static var busSignature: String { "(ayay)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(bus: try f("bus", \.bus), templates: try f("templates", \.templates))
  }
}

extension StoreDraft.ID: BusBytes {}

extension DetectedRestore.Acceptance: BusCodable {}
extension DetectedRestore.ID: BusBytes {
  package var bytes: [UInt8] { digest }
  package init(bytes: [UInt8]) { self.init(digest: bytes) }
}

extension DetectedRestore: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      id: try f("id", \.id), acceptance: try f("acceptance", \.acceptance), sets: try f("sets", \.sets),
      fingersAreForgotten: try f("fingers-are-forgotten", \.fingersAreForgotten), items: try f("items", \.items),
      lost: try f("lost", \.lost))
  }
}

extension BackupContents.Proof: BusCodable {}
extension BackupContents.ID: BusBytes {
  package var bytes: [UInt8] { digest }
  package init(bytes: [UInt8]) { self.init(digest: bytes) }
}

extension BackupContents: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      id: try f("id", \.id), proof: try f("proof", \.proof), items: try f("items", \.items),
      removed: try f("removed", \.removed), returning: try f("returning", \.returning),
      changed: try f("changed", \.changed), dead: try f("dead", \.dead))
  }
}

// MARK: The log

extension AuditEntry.Request: BusCodable {}
extension AuditEntry.Prompt: BusCodable {}
extension AuditEntry.Outcome: BusCodable {}

extension AuditEntry: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      number: try f("number", \.number), time: try f("time", \.time), program: try f("program", \.program),
      process: try f("process", \.process), behalf: try f("behalf", \.behalf), request: try f("request", \.request),
      items: try f("items", \.items), prompts: try f("prompts", \.prompts),
      wrongPasscodes: try f("wrong-passcodes", \.wrongPasscodes),
      unmatchedTouches: try f("unmatched-touches", \.unmatchedTouches),
      isSetChanged: try f("set-changed", \.isSetChanged), outcome: try f("outcome", \.outcome),
      omitted: try f("omitted", \.omitted))
  }
}

extension AuditSearch: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init()
    after = try f("after", \.after)
    since = try f("since", \.since)
    requests = try f("requests", \.requests)
    last = try f("last", \.last)
  }

  package func check() throws {
    guard (0...Self.limit).contains(last) else {
      throw VaultError.invalidRequest("an answer has at most \(Self.limit) entries of the log")
    }
  }
}
