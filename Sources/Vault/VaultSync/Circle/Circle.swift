import Keys
import Primitives
package import SecretModel
package import SecureMemory
import VaultStore

/// A store's membership in a circle: its keys, and the chain of all records of the circle's members.
package struct Circle: Sendable {
  /// What is stored beside the keys, as JSON.
  private struct Record: Codable {
    /// The files of ``chain``.
    var records: [JSONBytes]
    /// How many of them the repository has.
    var published: Int
    var machine: String
    var names: [String: String]
    var own: Member
    /// The pending request to join.
    var request: JSONBytes?
    /// The chain of ``rescue``.
    var rescued: [JSONBytes]?
  }

  package let keys: MemberKeys
  /// This machine's entry in the records of members, or the entry that it will have.
  package private(set) var own: Member
  package let id: MemberID
  /// The name of this machine.
  package private(set) var machine: String
  package private(set) var chain: [CircleRecord]
  /// How many records of ``chain`` the repository has.
  package private(set) var published: Int
  /// Nil until this machine is a member.
  package private(set) var contents: CircleContents?
  /// This machine's pending request to join; nil for a member.
  package private(set) var request: [UInt8]?
  /// The circle of the lost machines and the key to its files, until its items are imported.
  package private(set) var rescue: Rescue?

  /// A circle opened with a recovery key.
  package struct Rescue: Sendable {
    package let chain: [CircleRecord]
    package let key: EncryptedFile.KeyPair
    package let contents: CircleContents
  }

  package var last: CircleRecord { chain[chain.count - 1] }
  package var circle: String { last.circle }
  package var epoch: Int { last.epoch }
  package var members: [Member] { last.members }

  package var standing: SyncStatus.Standing {
    get throws(VaultError) {
      if request != nil { return .asking }
      return try last.member(id) == nil ? .removed : .member
    }
  }

  /// The members as signers.
  package var authors: Authors { get throws(VaultError) { try Authors(members) } }

  /// Everyone who has ever been a member, as signers.
  package var everyAuthor: Authors { get throws(VaultError) { try Authors(chain.flatMap(\.members)) } }

  /// Computes the names of records; nil until this machine is a member.
  package var recordNames: RecordNames? { contents.map { RecordNames($0.nameKey) } }

  package func name(of member: MemberID) -> String {
    if member == id { return machine }
    return MachineName.shown(contents?.names[member.description] ?? "")
  }

  /// The index of this machine's stanza in a new file.
  package var place: Int {
    get throws(VaultError) {
      for (index, member) in members.enumerated() where try member.id == id { return index }
      return 0
    }
  }

  // MARK: Beginning

  /// A new circle with this machine as its only member.
  package static func new(machine: String, recovery: AgePublicKey, salt: [UInt8]) throws(VaultError) -> Circle {
    let nameKey: SharedSecret
    let identifier: [UInt8]
    do throws(KeysError) {
      nameKey = SharedSecret(try Random.key())
      identifier = try Random.bytes(MemberID.byteCount)
    } catch {
      throw VaultError(cause: error)
    }
    return try Circle(
      machine: machine, recovery: recovery, salt: salt, circle: Hexadecimal.text(of: identifier),
      nameKey: nameKey, rescue: nil)
  }

  /// A new circle that replaces one whose machines are lost.
  package static func rescuing(
    _ rescue: Rescue, machine: String, recovery: AgePublicKey, salt: [UInt8]
  ) throws(VaultError) -> Circle {
    let identifier: [UInt8]
    do throws(KeysError) { identifier = try Random.bytes(MemberID.byteCount) } catch { throw VaultError(cause: error) }
    return try Circle(
      machine: machine, recovery: recovery, salt: salt, circle: Hexadecimal.text(of: identifier),
      nameKey: rescue.contents.nameKey, rescue: rescue)
  }

  private init(
    machine: String, recovery: AgePublicKey, salt: [UInt8], circle: String, nameKey: SharedSecret, rescue: Rescue?
  ) throws(VaultError) {
    let keys = try MemberKeys.make()
    let own = Member(keys, recovery: recovery, salt: salt)
    let id = try own.id
    self.machine = try MachineName.checked(machine)
    let contents = CircleContents(nameKey: nameKey, names: [id.description: machine])
    chain = [try CircleRecord(after: nil, circle: circle, members: [own], contents, by: keys, as: id)]
    (self.keys, self.own, self.id, self.contents, self.rescue) = (keys, own, id, contents, rescue)
    published = 0
    request = nil
  }

  /// A machine that asks to join.
  package static func asking(
    machine: String, recovery: AgePublicKey, salt: [UInt8], of chain: [CircleRecord]
  ) throws(VaultError) -> Circle {
    let keys = try MemberKeys.make()
    let own = Member(keys, recovery: recovery, salt: salt)
    return Circle(
      keys: keys, own: own, id: try own.id, machine: try MachineName.checked(machine), chain: chain,
      request: try JoinRequest(own, named: machine, to: chain[chain.count - 1], by: keys).bytes)
  }

  private init(
    keys: MemberKeys, own: Member, id: MemberID, machine: String, chain: [CircleRecord], request: [UInt8]
  ) {
    (self.keys, self.own, self.id, self.machine, self.chain) = (keys, own, id, machine, chain)
    self.request = request
    published = chain.count
  }

  package mutating func endRescue() { rescue = nil }

  // MARK: Members

  /// Admits a machine.
  package mutating func admit(_ request: JoinRequest) throws(VaultError) {
    let name = try request.name(with: keys.encryption)
    try append(members: try others(than: request.id) + [request.member], naming: [request.id.description: name])
  }

  package mutating func remove(_ member: MemberID) throws(VaultError) {
    guard try last.member(member) != nil else { throw .itemGone }
    try append(members: others(than: member), naming: [:])
  }

  /// Sets the public key and the salt of the store's recovery key.
  package mutating func use(recovery: AgePublicKey, salt: [UInt8]) throws(VaultError) {
    let new = Member(keys, recovery: recovery, salt: salt)
    guard new != own else { return }
    own = new
    if try standing == .member { try append(members: others(than: id) + [own], naming: [:]) }
  }

  private func others(than member: MemberID) throws(VaultError) -> [Member] {
    var others: [Member] = []
    for other in members where try other.id != member { others.append(other) }
    return others
  }

  private mutating func append(members: [Member], naming names: [String: String]) throws(VaultError) {
    guard var contents else { throw .invalidRequest("this computer is not among those that share") }
    contents.names.merge(names) { $1 }
    var kept: [String: String] = [:]
    for member in members { kept[try member.id.description] = contents.names[try member.id.description] }
    contents.names = kept
    chain.append(
      try CircleRecord(after: last, circle: circle, members: members, contents, by: keys, as: id))
    self.contents = contents
  }

  // MARK: Records of others

  /// The result of ``Circle/take(_:at:)``.
  package enum Taken {
    case known
    case new
    /// It differs from the record that this machine has seen with the same number.
    case other
  }

  /// Accepts a record of members from the repository.
  ///
  /// - Throws: `fileUnreadable` for a record that does not verify.
  package mutating func take(_ file: [UInt8], at epoch: Int) throws(VaultError) -> Taken {
    if epoch <= chain.count, chain[epoch - 1].bytes == file {
      published = max(published, epoch)
      return .known
    }
    guard epoch > published else { return .other }
    guard epoch == published + 1 else { throw .fileUnreadable("a record before it is missing") }
    let record = try CircleRecord(file, after: published > 0 ? chain[published - 1] : nil)
    try follow(record)
    return .new
  }

  /// Appends a record of another member, and then applies this machine's unpublished changes again.
  private mutating func follow(_ record: CircleRecord) throws(VaultError) {
    let mine = chain
    let name = contents?.names ?? [:]
    chain.removeLast(chain.count - published)
    let before = chain.last?.members ?? []
    chain.append(record)
    published += 1
    guard try record.member(id) != nil else {
      if request == nil { contents = nil }
      return
    }
    request = nil
    contents = try record.contents(with: keys.encryption)
    guard let changed = mine.dropFirst(published - 1).last else { return }
    for member in before where !changed.members.contains(where: { $0.signingKey == member.signingKey }) {
      if try last.member(member.id) != nil { try remove(member.id) }
    }
    for member in changed.members where !before.contains(member) {
      let id = try member.id
      try append(members: try others(than: id) + [member], naming: [id.description: name[id.description] ?? ""])
    }
  }

  // MARK: In the store

  private static let keyCount = MemberKeys.byteCount + 64

  /// The secrets: this machine's keys, the key of the names, and the rescue's key; zeros for a missing one.
  private var secrets: SecretBytes {
    var bytes = SecretBytes(count: Self.keyCount)
    Self.put(keys.bytes, at: 0, of: &bytes)
    if let contents { Self.put(contents.nameKey.bytes, at: MemberKeys.byteCount, of: &bytes) }
    if let rescue { Self.put(rescue.key.privateKey.bytes, at: MemberKeys.byteCount + 32, of: &bytes) }
    return bytes
  }

  private static func put(_ part: borrowing SecretBytes, at start: Int, of bytes: inout SecretBytes) {
    bytes.withUnsafeMutableBytes { target in
      part.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[start..<start + $0.count]).copyMemory(from: $0)
      }
    }
  }

  private static func part(_ range: Range<Int>, of bytes: borrowing SecretBytes) -> SecretBytes {
    bytes.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  func slot(in store: OpenedStore) throws(VaultError) -> Slot {
    let record = Record(
      records: chain.map { JSONBytes($0.bytes) }, published: published, machine: machine,
      names: contents?.names ?? [:], own: own, request: request.map { JSONBytes($0) },
      rescued: rescue?.chain.map { JSONBytes($0.bytes) })
    let sealed = try sealRecord(
      JSONLine.line(record), key: store.keys.derive("circle"), aad: Array("circle".utf8))
    return try Slot(
      .circle, wrapping: secrets, under: store.keys.root, databaseID: store.keys.databaseID, parameters: sealed)
  }

  init(_ slot: Slot, in store: OpenedStore) throws(VaultError) {
    let bytes = try slot.unwrap(
      under: store.keys.root, databaseID: store.keys.databaseID,
      otherwise: .storeDamaged("its keys for sharing do not verify"))
    guard bytes.count == Self.keyCount,
      let line = try? openRecord(slot.parameters, key: store.keys.derive("circle"), aad: Array("circle".utf8))
    else { throw .storeDamaged("its record of your computers does not verify") }
    let record: Record = try JSONLine.read(line)
    keys = try MemberKeys(Self.part(0..<MemberKeys.byteCount, of: bytes))
    self.own = record.own
    id = try record.own.id
    machine = record.machine
    published = record.published
    request = record.request?.bytes
    chain = try Self.chain(record.records)
    guard !chain.isEmpty else { throw .storeDamaged("its record of your computers is empty") }
    let nameKey = SharedSecret(Self.part(MemberKeys.byteCount..<MemberKeys.byteCount + 32, of: bytes))
    let own = try chain[chain.count - 1].member(id)
    contents = request == nil && own != nil ? CircleContents(nameKey: nameKey, names: record.names) : nil
    if let rescued = record.rescued {
      let chain = try Self.chain(rescued)
      let key = try EncryptedFile.KeyPair(
        privateKey: SharedSecret(Self.part(MemberKeys.byteCount + 32..<Self.keyCount, of: bytes)))
      rescue = Rescue(chain: chain, key: key, contents: try chain[chain.count - 1].contents(with: key))
    } else {
      rescue = nil
    }
  }

  private static func chain(_ files: [JSONBytes]) throws(VaultError) -> [CircleRecord] {
    var chain: [CircleRecord] = []
    for file in files { chain.append(try CircleRecord(stored: file.bytes)) }
    return chain
  }
}

extension Circle.Rescue {
  /// Opens a circle with the recovery key of one of its machines.
  ///
  /// - Throws: `wrongRecoveryKey`, `malformedRecoveryKey`.
  package init(_ chain: [CircleRecord], recoveryKey text: borrowing SecretBytes) throws(VaultError) {
    guard let record = chain.last else { throw .fileUnreadable("there is no record of your computers") }
    let slotKey = try RecoveryKey.slotKey(of: text)
    var found: EncryptedFile.KeyPair?
    for member in record.members {
      let key = try EncryptedFile.KeyPair(recovery: slotKey, salt: member.salt.bytes)
      if try member.recovery == key.publicKey { found = key }
    }
    guard let found else { throw .wrongRecoveryKey }
    self.init(chain: chain, key: found, contents: try record.contents(with: found))
  }
}

extension EncryptedFile.KeyPair {
  private static let agePrefix = "age-secret-key-"

  /// The private key in age's text format.
  package var identity: SecretBytes {
    var text = SecretBytes(count: Bech32.encodedCount(X25519.count, prefix: Self.agePrefix))
    text.withUnsafeMutableBytes { target in
      privateKey.bytes.withUnsafeBytes { Bech32.encode($0, prefix: Self.agePrefix, into: target) }
      // age writes private keys in upper case.
      for place in target.indices where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(target[place]) {
        target[place] -= 32
      }
    }
    return text
  }

  /// Derives the key pair of a recovery key.
  ///
  /// - Parameter slotKey: ``RecoveryKey/slotKey(of:)``.
  package init(recovery slotKey: borrowing SecretBytes, salt: [UInt8]) throws(VaultError) {
    let privateKey: SharedSecret
    do throws(KeysError) {
      privateKey = SharedSecret(try DerivedPair.recovery.privateKey(of: slotKey, salt))
    } catch {
      throw VaultError(cause: error)
    }
    try self.init(privateKey: privateKey)
  }

  package init(privateKey: SharedSecret) throws(VaultError) {
    let publicKey: [UInt8]
    do throws(KeysError) {
      publicKey = try X25519.publicKey(of: privateKey.bytes)
    } catch {
      throw VaultError(cause: error)
    }
    guard let key = AgePublicKey(bytes: publicKey) else { throw .internalError("X25519 gives no public key") }
    self.init(privateKey: privateKey, publicKey: key)
  }
}
