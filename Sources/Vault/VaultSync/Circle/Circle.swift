import Keys
import Primitives
package import SecretModel
import VaultStore

/// A store's membership in a circle: its keys, and the chain of all lists of the circle's members.
package struct Circle: Sendable {
  package let keys: MemberKeys
  /// This machine's entry in the lists of members, or the entry that it will have.
  package private(set) var own: Member
  package let id: MemberID
  /// The name of this machine.
  package let machine: String
  package private(set) var chain: [CircleRecord]
  /// How many lists of ``chain`` the repository has.
  package private(set) var published: Int
  /// How many lists of ``chain`` this machine follows in what it publishes: those that its owner has made or confirmed,
  /// and those that need nobody's yes.
  package private(set) var confirmed: Int
  /// Whether its owner has refused a change of the members: then this machine shares nothing.
  package private(set) var isLocked: Bool
  /// Whether members have signed two lists that follow the same one. The repository's operator, or a member, may show
  /// different lists to different machines.
  package private(set) var isForked: Bool
  /// The names of all machines that have been members, by their identifiers.
  package private(set) var names: [String: String]
  /// Nil until this machine is a member.
  package private(set) var contents: CircleContents?
  /// This machine's pending request to join; nil for a member.
  package private(set) var joining: Joining?
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
      if joining != nil { return .asking }
      return try last.member(id) == nil ? .removed : .member
    }
  }

  /// Whether this machine may publish.
  package var mayPublish: Bool { confirmed == chain.count && !isLocked && !isForked }

  /// The members as signers.
  package var authors: Authors { get throws(VaultError) { try Authors(members) } }

  /// Everyone who has ever been a member, as signers.
  package var everyAuthor: Authors { get throws(VaultError) { try Authors(chain.flatMap(\.members)) } }

  /// Computes the names of records; nil until this machine is a member.
  package var recordNames: RecordNames? { contents.map { RecordNames($0.nameKey) } }

  package func name(of member: MemberID) -> String {
    if let name = names[member.description] { return MachineName.shown(name) }
    return member == id ? machine : MachineName.shown("")
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
  package static func new(_ owner: CircleOwner) throws(VaultError) -> Circle {
    let nameKey: SharedSecret
    do throws(KeysError) { nameKey = SharedSecret(try Random.key()) } catch { throw VaultError(cause: error) }
    return try Circle(owner, nameKey: nameKey, rescue: nil)
  }

  /// A new circle that replaces one whose machines are lost.
  package static func rescuing(_ rescue: Rescue, _ owner: CircleOwner) throws(VaultError) -> Circle {
    try Circle(owner, nameKey: rescue.contents.nameKey, rescue: rescue)
  }

  private init(_ owner: CircleOwner, nameKey: SharedSecret, rescue: Rescue?) throws(VaultError) {
    let identifier: [UInt8]
    do throws(KeysError) { identifier = try Random.bytes(MemberID.byteCount) } catch { throw VaultError(cause: error) }
    keys = try MemberKeys.make()
    own = Member(keys, recovery: owner.recovery, salt: owner.salt, owner.locks)
    id = try own.id
    machine = owner.machine
    names = [id.description: machine]
    let contents = CircleContents(nameKey: nameKey, names: names)
    chain = [
      try CircleRecord(
        after: nil, circle: Hexadecimal.text(of: identifier), members: [own], contents, by: keys, as: id)
    ]
    (self.contents, self.rescue) = (contents, rescue)
    (published, confirmed, isLocked, isForked) = (0, 1, false, false)
  }

  /// A machine that asks to join. Its nonce must not be stored.
  package static func asking(
    _ owner: CircleOwner, of chain: [CircleRecord], _ nonce: JoinNonce
  ) throws(VaultError) -> Circle {
    try Circle(owner, asking: chain, nonce)
  }

  private init(_ owner: CircleOwner, asking chain: [CircleRecord], _ nonce: JoinNonce) throws(VaultError) {
    keys = try MemberKeys.make()
    own = Member(keys, recovery: owner.recovery, salt: owner.salt, owner.locks)
    id = try own.id
    machine = owner.machine
    self.chain = chain
    joining = Joining(try JoinRequest(own, to: chain[chain.count - 1].circle, nonce, by: keys))
    (published, confirmed, isLocked, isForked) = (chain.count, chain.count, false, false)
    (names, contents, rescue) = ([:], nil, nil)
  }

  package mutating func endRescue() { rescue = nil }

  // MARK: Joining

  /// The words of this machine's request, once a member has answered and the nonce is open.
  package var words: JoinWords? { get throws(VaultError) { try joining?.words(of: last) } }

  /// Takes the first answer to this machine's request, and opens its nonce for it. Later answers are ignored.
  ///
  /// - Throws: `fileUnreadable`; also where the nonce is gone, since the machine was interrupted.
  package mutating func take(answer file: [UInt8], _ nonce: JoinNonce?) throws(VaultError) {
    let list = last
    try joining?.take(answer: file, about: list, nonce, by: keys, as: id)
  }

  /// Notes that the owner of this machine has said that both machines show the same words.
  package mutating func consent() throws(VaultError) {
    let list = last
    try joining?.consent(named: machine, about: list, by: keys, as: id)
  }

  // MARK: Members

  /// Admits a machine, under its name or, where another member has that one, under the name with a number.
  ///
  /// - Parameter replaced: an earlier entry of the same machine, which was restored.
  package mutating func admit(_ member: Member, named name: String, replacing replaced: MemberID?) throws(VaultError) {
    let id = try member.id
    var others = try others(than: id)
    if let replaced {
      for index in others.indices.reversed() where try others[index].id == replaced { others.remove(at: index) }
    }
    try append(members: others + [member], naming: [id.description: try distinct(name, for: id, among: others)])
  }

  package mutating func remove(_ member: MemberID) throws(VaultError) {
    guard try last.member(member) != nil else { throw .itemGone }
    try append(members: others(than: member), naming: [:])
  }

  /// Sets the public key and the salt of the store's recovery key.
  package mutating func use(recovery: AgePublicKey, salt: [UInt8]) throws(VaultError) {
    try use(Member(keys, recovery: recovery, salt: salt, own.locks))
  }

  /// Sets the public keys for secrets.
  package mutating func use(_ locks: MemberLocks) throws(VaultError) {
    try use(Member(keys, recovery: own.recovery, salt: own.salt.bytes, locks))
  }

  private mutating func use(_ new: Member) throws(VaultError) {
    own = new
    // The list may have an earlier entry also where this one is not new: it was changed while this machine asked to join.
    guard let listed = try last.member(id), listed != own else { return }
    try append(members: others(than: id) + [own], naming: [:])
  }

  /// Follows the changes of the members, which the owner of this machine has just confirmed.
  package mutating func confirm() { (confirmed, isLocked, isForked) = (chain.count, false, false) }

  /// Shares nothing from now on: the owner of this machine did not want a change of the members.
  package mutating func lock() { isLocked = true }

  /// The changes that the owner of this machine has not confirmed.
  package var unconfirmed: [MemberListChange] {
    get throws(VaultError) {
      var changes: [MemberListChange] = []
      for index in confirmed..<max(confirmed, chain.count) where index > 0 {
        let change = try MemberListChange(from: chain[index - 1], to: chain[index])
        if !change.added.isEmpty || !change.removed.isEmpty { changes.append(change) }
      }
      return changes
    }
  }

  private func others(than member: MemberID) throws(VaultError) -> [Member] {
    var others: [Member] = []
    for other in members where try other.id != member { others.append(other) }
    return others
  }

  private mutating func append(members: [Member], naming names: [String: String]) throws(VaultError) {
    guard var contents else { throw .invalidRequest("this computer is not among those that share") }
    self.names.merge(names) { $1 }
    contents.names.merge(names) { $1 }
    var kept: [String: String] = [:]
    for member in members { kept[try member.id.description] = contents.names[try member.id.description] }
    contents.names = kept
    let wasConfirmed = confirmed == chain.count
    chain.append(
      try CircleRecord(after: last, circle: circle, members: members, contents, by: keys, as: id))
    if wasConfirmed { confirmed = chain.count }
    self.contents = contents
  }

  // MARK: Lists of others

  /// The result of ``Circle/take(_:at:)``.
  package enum Taken {
    case known
    case new
    /// It differs from the list that this machine has seen with the same number.
    case other
  }

  /// Accepts a list of members from the repository.
  ///
  /// - Throws: `fileUnreadable` for a list that does not verify, and for one that this machine, which asks to join, has
  ///   not agreed to.
  package mutating func take(_ file: [UInt8], at epoch: Int) throws(VaultError) -> Taken {
    if epoch <= chain.count, chain[epoch - 1].bytes == file {
      published = max(published, epoch)
      return .known
    }
    // The first list is this machine's own, or that of the members whom it asks: no other one comes into its place.
    guard epoch > published, epoch > 1 else {
      let before = epoch > 1 ? chain[epoch - 2] : nil
      // Only members can sign a second list after the same one.
      if epoch > 1, (try? CircleRecord(file, after: before)) != nil { isForked = true }
      return .other
    }
    guard epoch == published + 1 else { throw .fileUnreadable("a record before it is missing") }
    let record = try CircleRecord(file, after: chain[published - 1])
    if let joining { try joining.requireAgreed(record, machine: id, after: last) }
    try follow(record)
    return .new
  }

  /// Appends a list of another member, and then applies this machine's unpublished changes again.
  private mutating func follow(_ record: CircleRecord) throws(VaultError) {
    let mine = chain
    chain.removeLast(chain.count - published)
    let before = chain.last?.members ?? []
    var isFollowed = confirmed >= published
    if isFollowed, joining == nil, let last = chain.last {
      isFollowed = try MemberListChange(from: last, to: record).needsNobody
    }
    chain.append(record)
    published += 1
    confirmed = isFollowed ? published : min(confirmed, published - 1)
    guard try record.member(id) != nil else {
      if joining == nil { contents = nil }
      return
    }
    joining = nil
    let opened = try record.contents(with: keys.encryption)
    contents = opened
    try learn(opened.names)
    guard let changed = mine.dropFirst(published - 1).last else { return }
    for member in before where !changed.members.contains(where: { $0.signingKey == member.signingKey }) {
      if try last.member(member.id) != nil { try remove(member.id) }
    }
    for member in changed.members where !before.contains(member) {
      try append(members: try others(than: try member.id) + [member], naming: [:])
    }
  }

  /// Takes the names of new members. Nobody gives another name to a machine that is known, or the name of one to another.
  private mutating func learn(_ told: [String: String]) throws(VaultError) {
    for member in members {
      let id = try member.id
      guard names[id.description] == nil, let name = told[id.description] else { continue }
      names[id.description] = try distinct(MachineName.shown(name), for: id, among: members)
    }
  }

  /// The name, with a number where another member has it.
  private func distinct(
    _ name: String, for id: MemberID, among members: [Member]
  ) throws(VaultError) -> String {
    var taken: Set<String> = []
    for other in members where try other.id != id { taken.insert(names[try other.id.description] ?? "") }
    return MachineName.distinct(name, from: taken)
  }

  // MARK: In the store

  /// What is stored beside the keys, as JSON.
  private struct Record: Codable {
    /// The files of ``chain``.
    var records: [JSONBytes]
    var published: Int
    var confirmed: Int
    var isLocked: Bool
    var isForked: Bool
    var machine: String
    var names: [String: String]
    var own: Member
    var joining: Joining?
    /// The chain of ``rescue``.
    var rescued: [JSONBytes]?
  }

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
      records: chain.map { JSONBytes($0.bytes) }, published: published, confirmed: confirmed, isLocked: isLocked,
      isForked: isForked, machine: machine, names: names, own: own, joining: joining,
      rescued: rescue?.chain.map { JSONBytes($0.bytes) })
    let sealed = try sealRecord(
      JSONLine.line(record), key: store.keys.derive("circle"), aad: Array("circle".utf8))
    return try Slot(
      .circle, wrapping: secrets, under: store.keys.root, databaseID: store.keys.databaseID, parameters: sealed)
  }

  /// Nil for a circle of the first format.
  init?(_ slot: Slot, in store: OpenedStore) throws(VaultError) {
    let bytes = try slot.unwrap(
      under: store.keys.root, databaseID: store.keys.databaseID,
      otherwise: .storeDamaged("its keys for sharing do not verify"))
    guard bytes.count == Self.keyCount,
      let line = try? openRecord(slot.parameters, key: store.keys.derive("circle"), aad: Array("circle".utf8))
    else { throw .storeDamaged("its record of your computers does not verify") }
    guard let record = try? JSONLine.read(line, as: Record.self) else { return nil }
    keys = try MemberKeys(Self.part(0..<MemberKeys.byteCount, of: bytes))
    (own, machine, names, joining) = (record.own, record.machine, record.names, record.joining)
    (published, confirmed) = (record.published, record.confirmed)
    (isLocked, isForked) = (record.isLocked, record.isForked)
    id = try record.own.id
    chain = try Self.chain(record.records)
    guard !chain.isEmpty else { throw .storeDamaged("its record of your computers is empty") }
    let nameKey = SharedSecret(Self.part(MemberKeys.byteCount..<MemberKeys.byteCount + 32, of: bytes))
    let isMember = joining == nil ? try chain[chain.count - 1].member(id) != nil : false
    contents = isMember ? CircleContents(nameKey: nameKey, names: try Self.current(names, chain)) : nil
    if let rescued = record.rescued {
      let chain = try Self.chain(rescued)
      let key = try EncryptedFile.KeyPair(
        privateKey: SharedSecret(Self.part(MemberKeys.byteCount + 32..<Self.keyCount, of: bytes)))
      rescue = Rescue(chain: chain, key: key, contents: try chain[chain.count - 1].contents(with: key))
    } else {
      rescue = nil
    }
  }

  /// The names of the members of the newest list.
  private static func current(
    _ names: [String: String], _ chain: [CircleRecord]
  ) throws(VaultError) -> [String: String] {
    var current: [String: String] = [:]
    for member in chain[chain.count - 1].members {
      let id = try member.id.description
      current[id] = names[id]
    }
    return current
  }

  private static func chain(_ files: [JSONBytes]) throws(VaultError) -> [CircleRecord] {
    var chain: [CircleRecord] = []
    for file in files { chain.append(try CircleRecord(stored: file.bytes)) }
    return chain
  }
}
