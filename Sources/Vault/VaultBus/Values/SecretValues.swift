internal import Glibc
package import Primitives
package import SDBus
package import SecretModel

/// Secrets are never in a message itself, but in a sealed memory file whose descriptor the message carries.
extension SecretBytes {
  /// A memory file with this secret.
  borrowing func sealed() throws(VaultError) -> BusFile {
    try VaultError.ofFile { () throws(SealedFile.Failure) in
      BusFile(BusDescriptor(taking: try SealedFile.make(of: self).release()))
    }
  }

  /// A memory file with an item's secret.
  ///
  /// - Throws: `secretTooLong` for one that is too long for any vault.
  borrowing func sealedForItem() throws(VaultError) -> BusFile {
    guard count <= NewItem.secretLimit else { throw .secretTooLong(limit: NewItem.secretLimit) }
    return try sealed()
  }

  /// The secret that fills a memory file.
  ///
  /// - Parameter limit: the most bytes that it may have.
  init(sealed file: BusFile, limit: Int = NewItem.secretLimit) throws(VaultError) {
    self = try VaultError.ofFile { () throws(SealedFile.Failure) in try SealedFile(file, limit: limit).secret() }
  }
}

/// An optional secret as an argument (`ah`): one file or none.
extension SecretBytes {
  static func sealed(_ secret: borrowing SecretBytes?) throws(VaultError) -> [BusFile] {
    switch secret {
    case .some(let secret): [try secret.sealed()]
    case .none: []
    }
  }

  static func optional(sealed files: [BusFile], limit: Int = NewItem.secretLimit) throws(VaultError) -> SecretBytes? {
    guard files.count <= 1 else { throw .unreadable("a secret") }
    guard let file = files.first else { return nil }
    return try SecretBytes(sealed: file, limit: limit)
  }
}

/// Secrets in messages of the Secret Service, whose interface has them as arrays of bytes.
extension SharedSecret: WipedBytes {
  package convenience init(copying bytes: UnsafeRawBufferPointer) { self.init(SecretBytes(copying: bytes)) }

  package func lend<Value, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try bytes.withUnsafeBytes(body)
  }
}

// MARK: Files with several secrets

/// A part of a file that carries the bytes of several values: two members of a structure.
extension SealedFile.Place {
  /// No file is longer.
  private static let limit = Int(Int32.max)

  init<Whole>(_ f: inout Fields<Whole>, _ place: (Whole) -> Self) throws {
    try self.init(checking: try f("offset") { place($0).offset }, try f("count") { place($0).count })
  }

  init(checking offset: Int, _ count: Int) throws {
    guard (0...Self.limit).contains(offset), (0...Self.limit).contains(count) else {
      throw BusValueError.unreadable(Self.self)
    }
    self.init(offset: offset, count: count)
  }
}

/// An answer that carries secrets, which need memory until it has been read.
protocol CarriesSecrets {
  /// The bytes of them all.
  var secretCount: Int { get }
}

/// Released items, each with the place of its secret in one common file.
struct ReleasedItems: BusParts, CarriesSecrets {
  let items: [ReleasedItem]

  init(_ items: [ReleasedItem]) { self.items = items }

  private struct Entry: BusStructure {
    let item: Item
    let place: SealedFile.Place

    init(item: Item, place: SealedFile.Place) { (self.item, self.place) = (item, place) }

    static var busSignature: String { "(ayxx)" }
    init(_ f: inout Fields<Self>) throws {
      item = try f("item", \.item)
      place = try SealedFile.Place(&f, \.place)
    }
  }

  static var busSignature: String { "a(ayxx)ah" }
  static var places: Int { 2 }

  func busValues() throws -> [BusValue] {
    guard !items.isEmpty else { return [[Entry]().busValue, [BusFile]().busValue] }
    var writer = try SealedFile.Writer()
    // The same object may occur again.
    var places: [ObjectIdentifier: SealedFile.Place] = [:]
    let entries = try items.map { item in
      let known = places[ObjectIdentifier(item)]
      let place = if let known { known } else { try writer.append(item.secret) }
      places[ObjectIdentifier(item)] = place
      return Entry(item: item.item, place: place)
    }
    return [entries.busValue, [BusFile(BusDescriptor(taking: try writer.seal().release()))].busValue]
  }

  init(bus values: [BusValue]) throws {
    let (entries, files) = (try [Entry](bus: values[0]), try [BusFile](bus: values[1]))
    guard files.count == (entries.isEmpty ? 0 : 1) else { throw BusValueError.unreadable(Self.self) }
    guard let value = files.first else {
      items = []
      return
    }
    let file = try SealedFile(value, limit: ReleasedItem.sizeLimit)
    var items: [ReleasedItem] = []
    for entry in entries { items.append(ReleasedItem(entry.item, secret: try file.secret(at: entry.place))) }
    self.items = items
  }

  var secretCount: Int {
    var seen: Set<ObjectIdentifier> = []
    return items.reduce(0) { seen.insert(ObjectIdentifier($1)).inserted ? $0 + $1.secret.count : $0 }
  }
}

/// Items to be stored, and one file with all their secrets. Each item has the place of its secret in the file.
struct ItemsToAdd: BusParts {
  let items: [ItemToAdd]

  init(_ items: [ItemToAdd]) { self.items = items }

  private struct Entry: BusStructure {
    let item: [UInt8]
    let place: SealedFile.Place

    init(item: [UInt8], place: SealedFile.Place) { (self.item, self.place) = (item, place) }

    static var busSignature: String { "(ayxx)" }
    init(_ f: inout Fields<Self>) throws {
      item = try f("item", \.item)
      place = try SealedFile.Place(&f, \.place)
    }
  }

  static var busSignature: String { "a(ayxx)h" }
  static var places: Int { 2 }

  func busValues() throws -> [BusValue] {
    var writer = try SealedFile.Writer()
    let entries = try items.map { Entry(item: $0.item.packed, place: try writer.append($0.secret.bytes)) }
    return [entries.busValue, .descriptor(BusDescriptor(taking: try writer.seal().release()))]
  }

  /// - Throws: `invalidRequest` for too many items; `secretTooLong` where their secrets are too long together.
  init(bus values: [BusValue]) throws {
    guard values[0].asArray?.count ?? 0 <= ItemToAdd.limit else {
      throw VaultError.invalidRequest("at most \(ItemToAdd.limit) items are stored at a time")
    }
    let entries = try [Entry](bus: values[0])
    let file = try SealedFile(try BusFile(bus: values[1]), limit: ItemToAdd.sizeLimit)
    var items: [ItemToAdd] = []
    // Refuse overlapping places: copying them would take more memory than the file, and the user's budget counts only
    // the file's size.
    var room = file.count
    for entry in entries {
      guard entry.place.count <= room else {
        throw VaultError.invalidRequest("the secrets overlap in the file that carries them")
      }
      room -= entry.place.count
      let secret = SharedSecret(try file.secret(at: entry.place))
      items.append(ItemToAdd(try NewItem(packed: entry.item), secret: secret))
    }
    self.items = items
  }
}

extension RefusedItem: BusStructure {
  package static var busSignature: String { "(x(sav))" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(place: try f("place", \.place), error: try f("error", \.error))
  }
}

// MARK: Sealed copies and encrypted files

extension SealedCopy.Keys: BusCodable {}

/// A sealed copy as the bytes of its file.
extension SealedCopy: BusCodable {
  package static var busSignature: String { "ay" }
  package var busValue: BusValue { .bytes(bytes) }
  package init(bus value: BusValue) throws {
    guard let copy = SealedCopy(try [UInt8](bus: value)) else { throw BusValueError.unreadable(what: "a sealed copy") }
    self = copy
  }
}

/// What opens a sealed copy, as two arguments: the kind of secret, and the secret.
struct OpeningOfCopy: BusParts {
  private let kind: Word
  private let secret: BusFile

  init(_ opening: consuming SealedCopy.Opening) throws(VaultError) {
    switch consume opening {
    case .passcode(let passcode): (kind, secret) = (Word("passcode"), try passcode.sealed())
    case .recoveryKey(let key): (kind, secret) = (Word("recovery-key"), try key.sealed())
    }
  }

  func opening() throws(VaultError) -> SealedCopy.Opening {
    let secret = try SecretBytes(sealed: secret)
    switch kind.word {
    case "passcode": return .passcode(secret)
    case "recovery-key": return .recoveryKey(secret)
    default: throw .unreadable("what opens a sealed copy")
    }
  }

  static var busSignature: String { "sh" }
  static var places: Int { 2 }
  func busValues() -> [BusValue] { [kind.busValue, secret.busValue] }
  init(bus values: [BusValue]) throws {
    (kind, secret) = (try Word(bus: values[0]), try BusFile(bus: values[1]))
  }
}

/// A public key, or no bytes; and a passphrase, or no file.
extension EncryptedFile.Recipient: BusParts {
  package static var busSignature: String { "ayah" }
  package static var places: Int { 2 }

  package func busValues() throws -> [BusValue] {
    switch self {
    case .publicKey(let key): [key.bytes.busValue, [BusFile]().busValue]
    case .passphrase(let passphrase): [[UInt8]().busValue, [try passphrase.bytes.sealed()].busValue]
    }
  }

  package init(bus values: [BusValue]) throws {
    let bytes = try [UInt8](bus: values[0])
    switch try SecretBytes.optional(sealed: try [BusFile](bus: values[1])) {
    case .some(let passphrase) where bytes.isEmpty: self = .passphrase(SharedSecret(passphrase))
    case .none:
      guard let key = AgePublicKey(bytes: bytes) else { throw BusValueError.unreadable(what: "a public key") }
      self = .publicKey(key)
    case .some: throw BusValueError.unreadable(what: "what opens a file")
    }
  }
}

/// The kind of secret that opens a file, and the secret.
extension EncryptedFile.Opening: BusParts {
  package static var busSignature: String { "sh" }
  package static var places: Int { 2 }

  package func busValues() throws -> [BusValue] {
    switch self {
    case .passphrase(let secret): [.string("passphrase"), try secret.bytes.sealed().busValue]
    case .privateKey(let secret): [.string("private-key"), try secret.bytes.sealed().busValue]
    }
  }

  package init(bus values: [BusValue]) throws {
    let secret = SharedSecret(try SecretBytes(sealed: try BusFile(bus: values[1])))
    switch values[0].asString {
    case "passphrase": self = .passphrase(secret)
    case "private-key": self = .privateKey(secret)
    default: throw BusValueError.unreadable(what: "what opens a file")
    }
  }
}

// MARK: Files

extension BusFile {
  /// A descriptor as an argument. The message gets its own, for the same file or socket.
  init(copying descriptor: Int32) throws(VaultError) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .inputOutput("a descriptor: \(String(cString: strerror(errno)))") }
    self.init(BusDescriptor(taking: copy))
  }

  /// Valid as long as the message lives.
  var rawValue: Int32 { descriptor.rawValue }
}

extension SealedFile {
  /// - Parameter limit: the most bytes that the file may have.
  init(_ file: BusFile, limit: Int) throws(Failure) {
    // If the descriptor cannot be duplicated, -1 is passed on and refused as no sealed file.
    try self.init(received: fcntl(file.rawValue, F_DUPFD_CLOEXEC, 3), limit: limit)
  }
}

extension VaultError {
  init(_ failure: SealedFile.Failure) {
    self =
      switch failure {
      case .system(let code): .inputOutput("the file that carries a secret: \(String(cString: strerror(code)))")
      case .unsealed: .invalidRequest("the file that carries a secret is not sealed")
      case .tooLong(let limit): .secretTooLong(limit: limit)
      case .outside: .invalidRequest("a secret lies outside of the file that carries it")
      }
  }

  static func ofFile<Value: ~Copyable>(
    _ body: () throws(SealedFile.Failure) -> Value
  ) throws(VaultError) -> Value {
    do throws(SealedFile.Failure) { return try body() } catch { throw VaultError(error) }
  }
}
