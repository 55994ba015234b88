import Foundation
import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

/// `docs/sync-format.json`: a small repository with all keys, for programs that read and write `docs/sync-format.md`.
///
/// Set `WHORL_WRITE_VECTORS` to write it again after a change of the format.
private struct Vectors: Codable {
  struct Machine: Codable {
    var name: String
    /// Its private keys, X25519 and Ed25519, in hexadecimal.
    var decrypt: String
    var sign: String
    var id: String
    /// Its private keys for secrets in hexadecimal, by class.
    var classes: [String: String]
    /// Its private key for what needs the passcode, in hexadecimal.
    var passcode: String
    /// The JSON of the member.
    var member: String
  }

  struct Record: Codable {
    var path: String
    /// The encoding of the primary attributes, in hexadecimal; nil for a deletion and a kept version.
    var primary: String?
    var line: String
    var signature: String
    var secret: String
  }

  var circle: String
  var recoveryKey: String
  /// The identities of the recovery key in age's form: one for each machine, since the salts differ.
  var identities: [String]
  var machines: [Machine]
  /// The messages with which the second machine joined, in their order, and the six words.
  var messages: [String]
  var words: [String]
  var nameKey: String
  var records: [Record]
  /// The files of the repository by path, in base64.
  var files: [String: Data]

  static let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../../docs/sync-format.json")
}

@Suite("The vectors of the sync format")
struct SyncFormatTests {
  private let vectors: Vectors

  init() throws {
    if ProcessInfo.processInfo.environment["WHORL_WRITE_VECTORS"] != nil { try Self.make() }
    vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: Vectors.path))
  }

  private func keys(_ machine: Vectors.Machine) throws -> MemberKeys {
    try MemberKeys(Self.secret(hexadecimal: machine.decrypt + machine.sign))
  }

  private static func secret(hexadecimal text: String) throws -> SecretBytes {
    let bytes = try #require(Hexadecimal.bytes(in: text))
    return SecretBytes(copying: bytes.span)
  }

  private static func pair(_ text: String) throws -> EncryptedFile.KeyPair {
    try EncryptedFile.KeyPair(privateKey: SharedSecret(secret(hexadecimal: text)))
  }

  private func pair(_ text: String) throws -> EncryptedFile.KeyPair { try Self.pair(text) }

  private static func locks(
    _ classes: [String: EncryptedFile.KeyPair], _ passcode: EncryptedFile.KeyPair
  ) throws -> MemberLocks {
    var keys: [Accessibility: AgePublicKey] = [:]
    for (name, pair) in classes { keys[try #require(Accessibility(rawValue: name))] = pair.publicKey }
    return MemberLocks(classes: keys, passcode: passcode.publicKey, tier: .keyFile)
  }

  /// What opens the secrets on a machine.
  private func secretKeys(_ machine: Vectors.Machine) throws -> SecretKeys {
    var classes: [Accessibility: EncryptedFile.KeyPair] = [:]
    for (name, key) in machine.classes { classes[try #require(Accessibility(rawValue: name))] = try pair(key) }
    return SecretKeys(classes: classes, passcode: try pair(machine.passcode))
  }

  private func file(_ path: String) throws -> [UInt8] { Array(try #require(vectors.files[path])) }

  private var chain: [CircleRecord] {
    get throws {
      try CircleRecord.chain(
        vectors.files.filter { $0.key.hasPrefix("circle/") }.map { SyncFile($0.key, Array($0.value)) })
    }
  }

  @Test("the sync format's vectors have the member ids and lines that Whorl computes from the private keys")
  func members() throws {
    let last = try #require(try chain.last)
    #expect(last.circle == vectors.circle && last.members.count == 2)
    for (machine, member) in zip(vectors.machines, last.members) {
      let again = try Member(
        keys(machine), recovery: member.recovery, salt: member.salt.bytes,
        Self.locks(machine.classes.mapValues { try pair($0) }, pair(machine.passcode)))
      #expect(try again.id.description == machine.id)
      #expect(try String(decoding: JSONLine.line(again), as: UTF8.self) == machine.member + "\n")
    }
  }

  @Test("the sync format's vectors are decrypted by each machine and by the recovery key")
  func contents() throws {
    let last = try #require(try chain.last)
    let names = Dictionary(uniqueKeysWithValues: vectors.machines.map { ($0.id, $0.name) })
    for machine in vectors.machines {
      #expect(try last.contents(with: keys(machine).encryption).names == names)
    }
    for (identity, member) in zip(vectors.identities, last.members) {
      let slotKey = try RecoveryKey.slotKey(of: SecretBytes(text: vectors.recoveryKey))
      let pair = try EncryptedFile.KeyPair(recovery: slotKey, salt: member.salt.bytes)
      #expect(pair.identity.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == identity)
      let nameKey = try last.contents(with: pair).nameKey.bytes.withUnsafeBytes { Array($0) }
      #expect(Hexadecimal.text(of: nameKey) == vectors.nameKey)
    }
  }

  @Test("the sync format's vectors have the four messages of joining, with their six words")
  func messages() throws {
    let (chain, files) = (try chain, vectors.messages.map { Array($0.utf8) })
    let request = try JoinRequest(files[0], circle: vectors.circle)
    #expect(request.id.description == vectors.machines[1].id)
    let answer = try JoinAnswer(files[1], to: request, chain[0])
    let member = try #require(try chain[0].member(answer.signer))
    let words = try JoinWords(request, answer, by: member, JoinOpening(files[2], of: request, for: answer))
    #expect(words.words == vectors.words)
    let consent = try JoinConsent(files[3], of: request, to: words)
    #expect(try consent.name(with: keys(vectors.machines[0]).encryption) == vectors.machines[1].name)
  }

  @Test("the sync format's vectors have the record names, signatures and secrets that Whorl computes")
  func records() throws {
    let authors = try Authors(#require(try chain.last).members)
    let names = try RecordNames(SharedSecret(Self.secret(hexadecimal: vectors.nameKey)))
    #expect(vectors.records.count == 4)
    for record in vectors.records {
      for (place, machine) in vectors.machines.enumerated() {
        let keys = try keys(machine)
        let revision = try Revision(
          file(record.path), with: keys.encryption, expectedAt: place, circle: vectors.circle, from: authors)
        #expect(String(decoding: revision.signed.line, as: UTF8.self) == record.line)
        let recovery = SecretKeys(
          recovery: try EncryptedFile.KeyPair(
            recovery: RecoveryKey.slotKey(of: SecretBytes(text: vectors.recoveryKey)),
            salt: #require(try chain.last).members[place].salt.bytes))
        for keys in revision.head.item == nil ? [] : [try secretKeys(machine), recovery] {
          let secret = try revision.secret(with: keys).secret
          #expect(secret.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == record.secret)
        }
        guard revision.writer.description == machine.id else { continue }
        let again = try Revision(
          revision.head, secretFile: revision.secretFile, of: vectors.circle, by: keys, as: revision.writer)
        #expect(String(decoding: again.signed.bytes, as: UTF8.self) == record.line + record.signature)
        let name =
          if let primary = record.primary {
            names.name(of: try #require(Hexadecimal.bytes(in: primary)))
          } else {
            revision.head.name?.bytes ?? names.name(ofKept: revision.signed.digest)
          }
        #expect(SyncPath.item(name).text == record.path)
      }
    }
  }

  @Test("the sync format's vectors have a head of each machine, over the digests of all records")
  func heads() throws {
    let authors = try Authors(#require(try chain.last).members)
    var text = ""
    for record in vectors.records.sorted(by: { $0.path < $1.path }) {
      let name = record.path.dropFirst("items/".count).filter { $0 != "/" }
      text += "\(name) \(Hexadecimal.text(of: Digest.sha256(try file(record.path))))\n"
    }
    for machine in vectors.machines {
      let head = try MemberHead(file("heads/\(machine.id)"), circle: vectors.circle, by: authors)
      #expect(head.signer.description == machine.id && head.sequence > 0)
      #expect(head.records == Digest.sha256(Array(text.utf8)))
    }
    #expect(try file("format") == SyncPath.formatLine)
  }

  // MARK: Making them

  private static func make() throws {
    let recovery = try RecoveryKey.generate().text()
    let circle = "00112233445566778899aabbccddeeff"
    let salts = [Array("the salt of desk".utf8), Array("the salt of lap".utf8)]
    let slotKey = try RecoveryKey.slotKey(of: recovery)
    let pairs = [
      try EncryptedFile.KeyPair(recovery: slotKey, salt: salts[0]),
      try EncryptedFile.KeyPair(recovery: slotKey, salt: salts[1]),
    ]
    let nameKey = SharedSecret(SecretBytes(copying: Digest.sha256(Array("name key".utf8)).span))
    func keys(_ name: String) -> [UInt8] {
      Digest.sha256(Array("\(name) decrypt".utf8)) + Digest.sha256(Array("\(name) sign".utf8))
    }
    let (desk, lap) = (
      try MemberKeys(SecretBytes(copying: keys("desk").span)), try MemberKeys(SecretBytes(copying: keys("lap").span))
    )
    func key(_ text: String) -> String { Hexadecimal.text(of: Digest.sha256(Array(text.utf8))) }
    let classes = ["desk", "lap"].map { name in
      Dictionary(
        uniqueKeysWithValues: Accessibility.allCases.map { ($0.rawValue, key("\(name) \($0.rawValue)")) })
    }
    let passcodes = ["desk", "lap"].map { key("\($0) passcode") }
    let members = try zip([desk, lap], zip(pairs, salts)).enumerated().map { place, machine in
      Member(
        machine.0, recovery: machine.1.0.publicKey, salt: machine.1.1,
        try locks(classes[place].mapValues { try pair($0) }, pair(passcodes[place])))
    }
    let ids = [try members[0].id, try members[1].id]
    var contents = CircleContents(nameKey: nameKey, names: [ids[0].description: "desk"])
    let first = try CircleRecord(after: nil, circle: circle, members: [members[0]], contents, by: desk, as: ids[0])
    let nonce = try JoinNonce()
    let request = try JoinRequest(members[1], to: circle, nonce, by: lap)
    let answer = try JoinAnswer(to: request, first, by: desk, as: ids[0])
    let opening = try JoinOpening(nonce, for: answer, by: lap, as: ids[1])
    let words = try JoinWords(request, answer, by: members[0], opening)
    let consent = try JoinConsent(to: words, named: "lap", for: members[0], by: lap, as: ids[1])
    contents.names[ids[1].description] = "lap"
    let second = try CircleRecord(after: first, circle: circle, members: members, contents, by: desk, as: ids[0])

    var item = NewItem(named: try ItemName(parsing: "mail/alice"), access: AccessControl(.none))
    item.attributes[.synchronizable] = .number(1)
    let names = RecordNames(nameKey)
    var guarded = NewItem(named: try ItemName(parsing: "bank"), access: AccessControl(.passcode))
    guarded.attributes[.synchronizable] = .number(1)
    func primary(_ item: NewItem) -> [UInt8] {
      ItemRecord(itemClass: item.itemClass, attributes: item.attributes, created: 0, modified: 0).primary
    }
    func revision(
      _ item: NewItem, _ secret: String, _ keys: MemberKeys, _ writer: MemberID, _ clock: LogicalClock,
      at time: Double
    ) throws -> Revision {
      let hidden = try HiddenSecret(SecretBytes(text: secret))
      return try Revision(
        Revision.Head(
          clock: clock, created: 1_700_000_000, item: DescribedItem(item, secret: secret.utf8.count),
          commitment: hidden.commitment, modified: time, seen: [writer.description: clock]),
        secretFile: hidden.file(under: SecretLock(item), for: members, epoch: 2), of: circle, by: keys, as: writer)
    }
    let (current, lost) = (
      try revision(item, "gold", lap, ids[1], LogicalClock(2, 1), at: 1_700_000_002),
      try revision(item, "silver", desk, ids[0], LogicalClock(1, 9), at: 1_700_000_001)
    )
    let underPasscode = try revision(guarded, "platinum", desk, ids[0], LogicalClock(2, 3), at: 1_700_000_004)
    let gone = names.name(of: Array("an item that was deleted".utf8))
    let deleted = try Revision(
      Revision.Head(
        clock: LogicalClock(2, 2), created: 0, modified: 1_700_000_003, name: gone,
        seen: [ids[0].description: LogicalClock(2, 2)]),
      secretFile: [], of: circle, by: desk, as: ids[0])

    var records: [Vectors.Record] = []
    var files = [
      SyncPath.format.text: Data(SyncPath.formatLine), SyncPath.circle(1).text: Data(first.bytes),
      SyncPath.circle(2).text: Data(second.bytes),
    ]
    var digests: [(name: [UInt8], line: String)] = []
    for (revision, name, primary, secret) in [
      (current, names.name(of: primary(item)), primary(item), "gold"),
      (lost, names.name(ofKept: lost.signed.digest), nil, "silver"),
      (underPasscode, names.name(of: primary(guarded)), primary(guarded), "platinum"), (deleted, gone, nil, ""),
    ] {
      let (file, path) = (try revision.sealed(to: members.recipients, epoch: 2), SyncPath.item(name).text)
      files[path] = Data(file)
      digests.append((name, "\(Hexadecimal.text(of: name)) \(Hexadecimal.text(of: Digest.sha256(file)))\n"))
      records.append(
        Vectors.Record(
          path: path, primary: primary.map { Hexadecimal.text(of: $0) },
          line: String(decoding: revision.signed.line, as: UTF8.self),
          signature: String(decoding: revision.signed.bytes.dropFirst(revision.signed.line.count), as: UTF8.self),
          secret: secret))
    }
    digests.sort { $0.name.lexicographicallyPrecedes($1.name) }
    let digest = Digest.sha256(Array(digests.map(\.line).joined().utf8))
    for (id, keys) in zip(ids, [desk, lap]) {
      let head = try MemberHead(list: second, sequence: 2, records: digest, by: keys, as: id)
      files[SyncPath.head(id).text] = Data(head.bytes)
    }
    let identities = pairs.map { $0.identity.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    let vectors = Vectors(
      circle: circle, recoveryKey: recovery.withUnsafeBytes { String(decoding: $0, as: UTF8.self) },
      identities: identities,
      machines: try zip(["desk", "lap"], members).enumerated().map { place, machine in
        let (name, member) = machine
        return Vectors.Machine(
          name: name, decrypt: Hexadecimal.text(of: keys(name)[..<32]), sign: Hexadecimal.text(of: keys(name)[32...]),
          id: try member.id.description, classes: classes[place], passcode: passcodes[place],
          member: String(decoding: try JSONLine.line(member).dropLast(), as: UTF8.self))
      },
      messages: [request.bytes, answer.bytes, opening.bytes, consent.bytes].map {
        String(decoding: $0, as: UTF8.self)
      }, words: words.words,
      nameKey: Hexadecimal.text(of: nameKey.bytes.withUnsafeBytes { Array($0) }), records: records, files: files)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(vectors) + Data("\n".utf8)).write(to: Vectors.path)
  }
}
