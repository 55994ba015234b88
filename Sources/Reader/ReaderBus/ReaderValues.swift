internal import Glibc
package import Primitives
package import SDBus

extension Finger: BusCodable {}
extension ReaderAdapter: BusCodable {}
extension RetryReason: BusCodable {}
extension ScanNonce: BusBytes {}
extension EnrolmentID: BusBytes {}
extension Template: BusBytes {}

// MARK: Readers

extension ReaderDescription.Nature: BusCodable {}
extension ReaderDescription.ScanType: BusCodable {}
extension ReaderDescription.Temperature: BusCodable {}

/// Properties that a reader does not have are left out.
extension ReaderDescription: BusRecord {
  /// The longest of its texts, in bytes of UTF-8. They are stored, and shown to users. A serial number of USB has up to
  /// 126 units of UTF-16 (USB 2.0, 9.6.7), which are up to 378 bytes.
  package static let longestText = 512

  /// To be replaced by one that is read.
  package static let sample = ReaderDescription(
    id: "", name: "", identity: ReaderIdentity(driver: ""), scanType: .press, enrollStages: 0, features: [],
    temperature: .cold, nature: .virtual)

  package init(_ f: inout Fields<Self>) throws {
    self.init(
      id: try f("id", \.id), name: try f("name", \.name), identity: try f.among(\.identity),
      scanType: try f("scan-type", \.scanType),
      enrollStages: try f.small("enroll-stages", \.enrollStages, in: 0...Self.mostStages),
      // Unknown features are ignored.
      features: Set(
        try f.words("features") { $0.features.map(\.rawValue).sorted() }.compactMap(Feature.init(rawValue:))),
      temperature: try f("temperature", \.temperature), nature: try f("nature", \.nature))
  }

  package func check() throws {
    let texts = [id, name, identity.driver, identity.serial, identity.fixedPort].compactMap(\.self)
    guard texts.allSatisfy({ $0.utf8.count <= Self.longestText }) else { throw BusValueError.unreadable(Self.self) }
  }
}

extension ReaderIdentity: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      driver: try f("driver", \.driver), vendor: try f("vendor", \.vendor), product: try f("product", \.product),
      serial: try f("serial", \.serial), fixedPort: try f("fixed-port", \.fixedPort))
  }
}

/// The error's name, and its text.
extension ReaderError: BusStructure {
  package static var busSignature: String { "(say)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(busName: try f.word("name", \.busName), text: try f("text", \.busText))
  }
}

/// The name of the user, or no name for the own one.
extension ReaderUser: BusCodable {
  package static var busSignature: String { "s" }
  package var busValue: BusValue { .string(name) }
  package init(bus value: BusValue) throws {
    guard let user = ReaderUser(name: try Word(bus: value).word) else { throw BusValueError.unreadable(Self.self) }
    self = user
  }
}

extension EnrolledPrint: BusStructure {
  package static var busSignature: String { "(ayay)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(id: try f("id", \.id), template: try f("template", \.template))
  }
}

extension ChipList: BusSequence {
  package static var busSignature: String { "aayaay" }
  package static var places: Int { 2 }
  package init(_ f: inout Fields<Self>) throws {
    self.init(present: Set(try f("present") { Array($0.present) }), unknown: try f("unknown", \.unknown))
  }
}

// MARK: Scans

extension ScanOutcome {
  /// Its word; the enrolment that it found, or no bytes; and the reason of a retry.
  fileprivate var form: (word: String, enrolment: EnrolmentID, reason: RetryReason?) {
    let none = EnrolmentID(bytes: [])
    return switch self {
    case .match(let enrolment): ("match", enrolment, nil)
    case .noMatch: ("no-match", none, nil)
    case .retry(let reason): ("retry", none, reason)
    }
  }
}

extension ScanAnswer: BusSequence {
  package static var busSignature: String { "aysayst" }
  package static var places: Int { 5 }
  package init(_ f: inout Fields<Self>) throws {
    let (nonce, word) = (try f("nonce", \.nonce), try f.word("outcome") { $0.outcome.form.word })
    let (id, why) = (
      try f("enrolment") { $0.outcome.form.enrolment }, try f.word("reason") { $0.outcome.form.reason?.rawValue ?? "" }
    )
    let outcome: ScanOutcome
    switch (word, id.bytes.isEmpty, RetryReason(rawValue: why)) {
    case ("match", false, _): outcome = .match(id)
    case ("no-match", true, _): outcome = .noMatch
    case ("retry", true, let reason?): outcome = .retry(reason)
    default: throw BusValueError.unreadable(Self.self)
    }
    self.init(nonce: nonce, outcome: outcome, finishedAt: try f("finished", \.finishedAt))
  }
}

/// The event's name, the stage, the number of stages, and the reason of a retry: the arguments of the signal after the
/// number of the call.
extension ScanEvent: BusSequence {
  package static var busSignature: String { "suus" }
  package static var places: Int { 4 }

  private var form: (word: String, completed: Int, count: Int, reason: RetryReason?) {
    switch self {
    case .fingerNeeded: ("finger-needed", 0, 0, nil)
    case .fingerPossible: ("finger-possible", 0, 0, nil)
    case .fingerPresent: ("finger-present", 0, 0, nil)
    case .fingerLifted: ("finger-lifted", 0, 0, nil)
    case .stage(let completed, let count): ("stage", completed, count, nil)
    case .retry(let reason): ("retry", 0, 0, reason)
    }
  }

  package init(_ f: inout Fields<Self>) throws {
    let stages = 0...ReaderDescription.mostStages
    let word = try f.word("event", \.form.word)
    let completed = try f.small("completed", \.form.completed, in: stages)
    let count = try f.small("count", \.form.count, in: stages)
    let reason = RetryReason(rawValue: try f.word("reason") { $0.form.reason?.rawValue ?? "" })
    switch (word, reason) {
    case ("finger-needed", _): self = .fingerNeeded
    case ("finger-possible", _): self = .fingerPossible
    case ("finger-present", _): self = .fingerPresent
    case ("finger-lifted", _): self = .fingerLifted
    case ("stage", _): self = .stage(completed: completed, of: count)
    case ("retry", let reason?): self = .retry(reason)
    default: throw BusValueError.unreadable(Self.self)
    }
  }

  /// The arguments of the signal.
  package func busValues(call: UInt64) -> [BusValue] { [.uint64(call)] + busValues() }

  /// The event and the number of its call. Nil if the arguments are not those of this signal.
  package static func reading(_ values: [BusValue]) -> (call: UInt64, event: ScanEvent)? {
    guard let call = values.first?.asIdentifier(UInt64.self),
      let event = try? ScanEvent(bus: Array(values.dropFirst()))
    else { return nil }
    return (call, event)
  }
}

// MARK: Pictures

/// The reason of a retry, and the picture; one of the two is empty.
extension CaptureOutcome: BusParts {
  package static var busSignature: String { "sa{sv}" }
  package static var places: Int { 2 }

  package func busValues() -> [BusValue] {
    switch self {
    case .picture(let picture): [.string(""), picture.busValue]
    case .retry(let reason): [reason.busValue, .dictionary([:])]
    }
  }

  package init(bus values: [BusValue]) throws {
    if let reason = try OptionalWord<RetryReason>(bus: values[0]).value {
      guard values[1].asDictionary == [:] else { throw BusValueError.unreadable(Self.self) }
      self = .retry(reason)
    } else {
      self = .picture(try FingerPicture(bus: values[1]))
    }
  }
}

extension FingerPicture: BusRecord {
  /// The size limit of a picture in bytes; larger than that of any reader.
  fileprivate static let largestFile = 64 << 20

  package init(_ f: inout Fields<Self>) throws {
    // FpImage has sides of 16 bits.
    let (width, height) = (
      try f.small("width", \.width, in: 1...0xFFFF), try f.small("height", \.height, in: 1...0xFFFF)
    )
    self.init(
      width: width, height: height,
      resolution: try f.small("resolution", \.resolution, in: 0...Int(Int32.max)),
      minutiae: try f.small("minutiae", \.minutiae, in: 0...width * height),
      contrast: try f.small("contrast", \.contrast, in: 0...255), file: try f("image", \.file))
  }

  package func check() throws {
    guard let file else { return }
    guard let size = file.sealed.pictureSize, size == (width, height) else { throw BusValueError.unreadable(Self.self) }
  }
}

/// A sealed PNG file.
extension PictureFile: BusCodable {
  package static var busSignature: String { "h" }
  package var busValue: BusValue { .descriptor(BusDescriptor(taking: duplicate(sealed.descriptor))) }
  package convenience init(bus value: BusValue) throws {
    self.init(
      try SealedFile(received: duplicate(try BusFile(bus: value).descriptor.rawValue), limit: FingerPicture.largestFile)
    )
  }
}

extension SealedFile {
  /// The width and the height in pixels from the header of a PNG file. Nil if it is not one.
  fileprivate var pictureSize: (width: Int, height: Int)? {
    // The signature, and the chunk IHDR with its length, its name, the width and the height, all big-endian (PNG
    // specification, 5.2 and 11.2.1).
    let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    guard let header = try? secret(at: Place(offset: 0, count: start.count + 8)) else { return nil }
    return header.withUnsafeBytes { bytes in
      guard bytes.starts(with: start) else { return nil }
      func side(at offset: Int) -> Int? {
        OutsideNumber(bigEndian: bytes[offset..<offset + 4]).number(in: 1...0xFFFF)
      }
      guard let width = side(at: start.count), let height = side(at: start.count + 4) else { return nil }
      return (width, height)
    }
  }
}

/// A duplicate that the caller owns. -1 if there is no free descriptor.
private func duplicate(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
