import Foundation
import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

private let noLocks = MemberLocks(classes: [:], passcode: nil, tier: .keyFile)

@Suite("Forged files that are encrypted to the members of a circle")
struct ForgedFilesTests {
  private let repository = MemoryRepository()

  private func expectRefused(_ path: String, _ contents: [UInt8], by machine: SyncMachine, _ what: String) async throws
  {
    let before = try await machine.items
    var files = repository.tip
    files[path] = contents
    let receipt = try await machine.receive(files)
    #expect(receipt.refused.map(\.path) == [path], "\(what): \(receipt)")
    #expect(try await machine.items == before, "\(what)")
    _ = try await machine.receive(repository.tip)
  }

  @Test("a file of a synced item is accepted only with a member's signature for the circle and valid contents")
  func items() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, valid) = (machines[0], try Forgery(by: try await machines[1].circle))
    let stranger = try MemberKeys.make()
    let strangerID = try Member(stranger, recovery: stranger.encryption.publicKey, salt: [], noLocks).id
    let forgeries: [(String, Forgery)] = [
      ("a stranger's signature", valid.with { ($0.keys, $0.id) = (stranger, strangerID) }),
      ("a stranger's signature in a member's name", valid.with { $0.keys = stranger }),
      ("a version of another circle", valid.with { $0.circleID = String(repeating: "0", count: 32) }),
      ("an item and the name of a deleted one", valid.with { $0.name = [1] }),
      ("a clock that is too great", valid.with { $0.clock = LogicalClock($0.epoch, 0x20_0000_0000_0000) }),
      ("the greatest number as a clock", valid.with { $0.clock = LogicalClock($0.epoch, 0xFFFF_FFFF_FFFF_FFFF) }),
      ("the greatest clock of the format", valid.with { $0.clock = LogicalClock($0.epoch, 0x1F_FFFF_FFFF_FFFF) }),
      ("a clock of zero", valid.with { $0.clock = .beginning(of: $0.epoch) }),
      ("a clock of a list of members that nobody has seen", valid.with { $0.clock = LogicalClock($0.epoch + 1, 1) }),
      ("a clock of the last number for a list", valid.with { $0.clock = LogicalClock(.max, 1) }),
      ("a clock of a list with a number below zero", valid.with { $0.clock = LogicalClock(.min, 1) }),
      (
        "a version that has seen later ones than itself",
        valid.with { $0.seen = [$0.id.description: $0.clock, "another": LogicalClock($0.epoch, .max)] }
      ),
      ("a time that is no number", valid.with { $0.times.modified = .nan }),
      ("a time without end", valid.with { $0.times.created = .infinity }),
      ("a time that no calendar has", valid.with { $0.times.modified = 1e300 }),
      ("a time before 1970", valid.with { $0.times.modified = -1 }),
      ("a version that has not seen itself", valid.with { $0.seen = [:] }),
      (
        "too many writers",
        valid.with { forgery in
          forgery.seen = Dictionary(uniqueKeysWithValues: (0..<10_001).map { ("\($0)", LogicalClock(1, 1)) })
          forgery.seen?[forgery.id.description] = forgery.clock
        }
      ),
      ("a file for later members than there are", valid.with { $0.epoch += 1 }),
      ("an item that is not shared", valid.with { $0.item.attributes[.synchronizable] = nil }),
      (
        "attributes that are too long",
        valid.with {
          $0.item.attributes[AttributeName(rawValue: "icmt")] = .text(String(repeating: "x", count: 1 << 20))
        }
      ),
    ]
    for (what, forgery) in forgeries {
      let (path, contents) = try forgery.file()
      try await expectRefused(path, contents, by: desk, what)
    }
    var files = repository.tip
    let (path, contents) = try valid.file()
    files[path] = contents
    #expect(try await desk.receive(files).refused.isEmpty)
    #expect(try await desk.get("forged") == "iron")
  }

  @Test("a synced version is either an item with a secret and its digest, or a deletion with neither")
  func halves() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, valid) = (machines[0], try Forgery(by: try await machines[1].circle))
    let (hidden, members) = (try HiddenSecret(SecretBytes(text: "iron")), valid.circle.members)
    let secret = try hidden.file(under: SecretLock(valid.item), for: members, epoch: valid.epoch)
    let names = try #require(valid.circle.recordNames)
    let deleted = names.name(of: [1])
    func file(isItem: Bool, commitment: [UInt8]?, secret: [UInt8]) throws -> (path: String, contents: [UInt8]) {
      let head = Revision.Head(
        clock: valid.clock, created: 0, item: isItem ? DescribedItem(valid.item, secret: 4) : nil,
        commitment: commitment, modified: 0, name: isItem ? nil : deleted, seen: [valid.id.description: valid.clock])
      let name = isItem ? names.name(of: ItemRecord(valid.item, head).primary) : deleted
      let revision = try Revision(head, secretFile: secret, of: valid.circleID, by: valid.keys, as: valid.id)
      return (SyncPath.item(name).text, try revision.sealed(to: members.recipients, epoch: valid.epoch))
    }
    for (what, file) in [
      ("an item without the digest of its secret", try file(isItem: true, commitment: nil, secret: secret)),
      ("an item without a secret", try file(isItem: true, commitment: hidden.commitment, secret: [])),
      ("a deletion with the digest of a secret", try file(isItem: false, commitment: hidden.commitment, secret: [])),
      ("a deletion with a secret", try file(isItem: false, commitment: nil, secret: secret)),
    ] {
      try await expectRefused(file.path, file.contents, by: desk, what)
    }
    for file in [
      try file(isItem: true, commitment: hidden.commitment, secret: secret),
      try file(isItem: false, commitment: nil, secret: []),
    ] {
      #expect(try await desk.receive(repository.tip.merging([file.path: file.contents]) { $1 }).refused.isEmpty)
    }
  }

  @Test("a synced secret of another length than was signed, or another secret, is not stored")
  func otherSecrets() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, valid) = (machines[0], try Forgery(by: try await machines[1].circle))
    for forgery in [valid.with { $0.secretCount = 5 }, valid.with { $0.commitment = [UInt8](repeating: 1, count: 32) }]
    {
      let (path, contents) = try forgery.file()
      #expect(try await desk.receive(repository.tip.merging([path: contents]) { $1 }).changed.isEmpty)
      #expect(try await desk.status.waiting.map(\.reason) == [.recipients])
      #expect(try await desk.get("forged") == nil)
    }
  }

  @Test("a kept version is gone by any deletion that a member signs, and no other version comes into its place")
  func keptDeleted() async throws {
    let machines = try await repository.circle("desk", "lap")
    for machine in machines { try await machine.set("mail", machine.name) }
    for machine in [machines[0], machines[1], machines[0]] { try await machine.sync(repository) }
    let (desk, valid) = (machines[0], try Forgery(by: try await machines[1].circle))
    let kept = try #require(try await desk.status.kept.first)
    let path = try #require(
      repository.tip.keys.first { $0.hasPrefix("items/") && $0.filter { $0 != "/" }.hasPrefix("items\(kept.id)") })
    guard case .item(let name)? = SyncPath(path) else { throw VaultError.itemGone }
    // It claims to have seen nothing else.
    let head = Revision.Head(
      clock: valid.clock, created: 0, modified: 0, name: name, seen: [valid.id.description: valid.clock])
    let file = try Revision(head, secretFile: [], of: valid.circleID, by: valid.keys, as: valid.id)
      .sealed(to: valid.circle.members.recipients, epoch: valid.epoch)
    #expect(try await desk.receive(repository.tip.merging([path: file]) { $1 }).refused.isEmpty)
    #expect(try await desk.status.kept.isEmpty)
    #expect(try await desk.status.pending == 0)
  }

  @Test("a synced secret that is shorter than the random bytes before each secret is not stored", arguments: [0, 31])
  func shortSecret(count: Int) async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, valid) = (machines[0], try Forgery(by: try await machines[1].circle))
    let bytes = [UInt8](repeating: 7, count: count)
    let head = Revision.Head(
      clock: valid.clock, created: 0, item: DescribedItem(valid.item, secret: 0), commitment: Digest.sha256(bytes),
      modified: 0, seen: [valid.id.description: valid.clock])
    let members = valid.circle.members
    let secret = try AgeMessage.seal(
      SecretBytes(copying: bytes.span), to: members.recipients(of: valid.item.accessibility), epoch: valid.epoch)
    let revision = try Revision(head, secretFile: secret, of: valid.circleID, by: valid.keys, as: valid.id)
    let name = try #require(valid.circle.recordNames).name(of: ItemRecord(valid.item, head).primary)
    let file = try revision.sealed(to: members.recipients, epoch: valid.epoch)
    #expect(try await desk.receive(repository.tip.merging([SyncPath.item(name).text: file]) { $1 }).changed.isEmpty)
    #expect(try await desk.status.waiting.map(\.reason) == [.recipients])
  }

  @Test("an invalid synced passkey waits and is not stored, and a synced file that is too long ends the call")
  func unusable() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, valid) = (machines[0], try Forgery(by: try await machines[1].circle))
    let passkey = valid.with {
      $0.item = NewItem(.passkey, [.synchronizable: .number(1)], access: AccessControl(.anyFinger))
    }
    let (path, contents) = try passkey.file()
    var files = repository.tip
    files[path] = contents
    #expect(try await desk.receive(files).refused.isEmpty)
    #expect(try await desk.status.waiting.map(\.reason) == [.refused])
    func expectTooLong(_ files: MemoryRepository.Files) async {
      await #expect {
        try await desk.receive(files)
      } throws: { error in
        if case VaultError.invalidRequest = error { true } else { false }
      }
    }
    await expectTooLong(files.merging([path: [UInt8](repeating: 0, count: SyncFile.sizeLimit + 1)]) { $1 })
    let fit = SyncFile.pageLimit / SyncFile.sizeLimit
    let many = (0...fit).map { ("file\($0)", [UInt8](repeating: 0, count: SyncFile.sizeLimit)) }
    await expectTooLong(Dictionary(uniqueKeysWithValues: many))
  }

  @Test("files that a machine signs after its removal from a circle have no effect")
  func removed() async throws {
    let machines = try await repository.circle("desk", "attic", "lap")
    let old = try Forgery(by: try await machines[2].circle)
    let oldHead = try MemberHead(
      list: old.circle.last, sequence: 99, records: [1], by: old.keys, as: old.id
    ).bytes
    try await machines[0].remove(machines[2])
    // The other one receives the removal together with the forged file.
    try await machines[0].sync(repository)
    let members = try await machines[0].circle.members
    for machine in [machines[0], machines[1]] {
      let (path, contents) = try old.file(for: members)
      try await expectRefused(path, contents, by: machine, "by \(machine.name)")
      // The head of a machine that is not a member is ignored.
      let receipt = try await machine.receive(repository.tip.merging([SyncPath.head(old.id).text: oldHead]) { $1 })
      #expect(!receipt.wentBack && receipt.refused.isEmpty)
      _ = try await machine.receive(repository.tip)
    }
  }

  @Test("a machine's head in a sync repository is accepted only with the signature of that machine")
  func heads() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, circle) = (machines[0], try await machines[1].circle)
    let (stranger, path) = (try MemberKeys.make(), SyncPath.head(circle.id).text)
    func head(
      _ sequence: Int = 50, of list: CircleRecord? = nil, by keys: MemberKeys? = nil, as signer: MemberID? = nil
    ) throws -> [UInt8] {
      try MemberHead(
        list: list ?? circle.last, sequence: sequence, records: [1], by: keys ?? circle.keys,
        as: signer ?? circle.id
      ).bytes
    }
    let elsewhere = try CircleRecord(
      after: nil, circle: String(repeating: "0", count: 32), members: circle.members, #require(circle.contents),
      by: circle.keys, as: circle.id)
    let ownPath = SyncPath.head(try await desk.circle.id).text
    for (what, path, contents) in [
      ("another's signature", path, try head(by: stranger)),
      ("another circle", path, try head(of: elsewhere)),
      ("no sequence", path, try head(0)),
      ("a member's in the place of another's", ownPath, try head()),
      ("with more at its end", path, try head() + [10]),
    ] {
      try await expectRefused(path, contents, by: desk, what)
    }
    var files = repository.tip
    files[path] = try head()
    #expect(try await desk.receive(files).refused.isEmpty)
    // An earlier head, or a missing one, means that the repository was put back.
    files[path] = try head(49)
    #expect(try await desk.receive(files).wentBack)
    // Then it publishes nothing, though no record is missing.
    #expect(try await desk.status.lost > 0)
    // Also when it is seen again.
    desk.forget()
    #expect(try await desk.receive(files).wentBack)
    files[path] = nil
    #expect(try await desk.receive(files).wentBack)
  }

  @Test("a machine that was put back to an earlier state goes on after the number of its head in the repository")
  func ownHead() async throws {
    let machines = try await repository.circle("desk", "lap")
    let circle = try await machines[0].circle
    let path = SyncPath.head(circle.id).text
    let later = try MemberHead(list: circle.last, sequence: 500, records: [1], by: circle.keys, as: circle.id).bytes
    repository.put(repository.tip.merging([path: later]) { $1 })
    _ = try await machines[1].receive(repository.tip)
    try await machines[0].set("mail", "gold")
    try await machines[0].sync(repository)
    let head = try MemberHead(
      #require(repository.tip[path]), circle: circle.circle, by: circle.authors)
    #expect(head.sequence == 501)
    #expect(try await !machines[1].sync(repository).wentBack)
    #expect(try await machines[1].get("mail") == "gold")
  }

  /// The fields of a record of members.
  private struct Body: Codable {
    var circle: String
    var epoch: Int
    var format = 2
    var members: [Member]
    var previous: JSONBytes?
    var sealed = JSONBytes([])
  }

  @Test("a circle's record of members is accepted only after the previous record, signed by one of its members")
  func members() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, circle) = (machines[0], try await machines[1].circle)
    let (stranger, epoch) = (try MemberKeys.make(), circle.epoch + 1)
    let strange = Member(stranger, recovery: stranger.encryption.publicKey, salt: [], noLocks)
    let valid = Body(
      circle: circle.circle, epoch: epoch, members: circle.members, previous: JSONBytes(circle.last.digest),
      sealed: try JSONBytes(Self.sealed(of: circle)))
    func file(
      _ body: Body, by keys: MemberKeys? = nil, as id: MemberID? = nil
    ) throws -> [UInt8] {
      try SignedLine(body, .circle, by: keys ?? circle.keys, as: id ?? circle.id).bytes
    }
    func with(_ change: (inout Body) -> Void) -> Body {
      var body = valid
      change(&body)
      return body
    }
    let path = SyncPath.circle(epoch).text
    let crowd = try (0...CircleRecord.memberLimit).map { _ in
      let keys = try MemberKeys.make()
      return Member(keys, recovery: keys.encryption.publicKey, salt: [], noLocks)
    }
    let short = try AgeMessage.seal(SecretBytes(count: 31), to: circle.members.recipients, epoch: epoch)
    for (what, contents) in [
      ("a stranger's", try file(with { $0.members.append(strange) }, by: stranger, as: strange.id)),
      ("a stranger's in a member's name", try file(valid, by: stranger)),
      ("of another kind", try SignedLine(valid, .head, by: circle.keys, as: circle.id).bytes),
      ("with more at its end", try file(valid) + [10]),
      ("of another epoch", try file(with { $0.epoch += 1 })),
      ("after another record", try file(with { $0.previous = JSONBytes([1]) })),
      ("of another circle", try file(with { $0.circle = String(repeating: "0", count: 32) })),
      ("with a member twice", try file(with { $0.members.append($0.members[0]) })),
      ("of the first format", try file(with { $0.format = 1 })),
      ("without members", try file(with { $0.members = [] })),
      ("with too many members", try file(with { $0.members = crowd })),
      ("with fewer bytes for the members than the key has", try file(with { $0.sealed = JSONBytes(short) })),
    ] {
      try await expectRefused(path, contents, by: desk, what)
    }
    try await expectRefused(SyncPath.circle(epoch + 1).text, try file(valid), by: desk, "under another number")
    #expect(try await desk.status.members.count == 2)
    // Nothing of a later format is understood, so the call fails.
    var files = repository.tip
    files[path] = try file(with { $0.format = 3 })
    let later = files
    await #expect(throws: VaultError.newerFormat(3)) { try await desk.receive(later) }
    files[path] = try file(valid)
    #expect(try await desk.receive(files).refused.isEmpty)
    let contents = try #require(circle.contents)
    #expect(throws: VaultError.invalidRequest("at most 100 computers can share")) {
      _ = try CircleRecord(
        after: circle.last, circle: circle.circle, members: crowd, contents, by: circle.keys, as: circle.id)
    }
  }

  /// What only the members read, from the last record.
  private static func sealed(of circle: Circle) throws -> [UInt8] {
    let line = circle.last.bytes.prefix { $0 != 10 }
    return try JSONDecoder().decode(Body.self, from: Data(line)).sealed.bytes
  }

  /// The fields of a request.
  private struct Request: Codable {
    var circle: String
    var commitment = JSONBytes([])
    var member: Member
  }

  @Test("a request to join a circle is accepted only with its machine's signature, for that circle")
  func requests() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, circle) = (machines[0], try await machines[1].circle)
    let (stranger, other) = (try MemberKeys.make(), try MemberKeys.make())
    let member = Member(stranger, recovery: stranger.encryption.publicKey, salt: [], noLocks)
    let valid = Request(circle: circle.circle, member: member)
    let path = SyncPath.request(try member.id).text
    func file(_ request: Request, by keys: MemberKeys, as id: MemberID? = nil) throws -> [UInt8] {
      try SignedLine(request, .request, by: keys, as: try id ?? request.member.id).bytes
    }
    func with(_ change: (inout Request) -> Void) -> Request {
      var request = valid
      change(&request)
      return request
    }
    let unusable = try JSONDecoder().decode(
      Member.self,
      from: Data(
        String(decoding: try JSONLine.line(member), as: UTF8.self)
          .replacingOccurrences(of: #""recovery":"age1"#, with: #""recovery":"agf1"#).utf8))
    for (what, contents) in [
      ("another's signature", try file(valid, by: other)),
      ("another circle", try file(with { $0.circle = String(repeating: "0", count: 32) }, by: stranger)),
      ("a key that is none", try file(with { $0.member = unusable }, by: stranger)),
      ("a signer who is not the member", try file(valid, by: stranger, as: circle.id)),
    ] {
      try await expectRefused(path, contents, by: desk, what)
      #expect(try await desk.status.candidates.isEmpty, "\(what)")
    }
    var files = repository.tip
    files[path] = try file(valid, by: stranger)
    #expect(try await desk.receive(files).refused.isEmpty)
    #expect(try await desk.status.candidates.map(\.id) == [member.id])
  }
}
