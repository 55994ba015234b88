import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

extension Vault {
  /// The keys and records that a hostile machine has of its circle.
  var circle: Circle {
    get throws { try #require(try presence.passcodes.store.read { try $0.circle() }) }
  }

  /// The greatest clock that its machine knows.
  var clock: LogicalClock {
    get throws { try presence.passcodes.store.read { try $0.syncProgress().clock } }
  }
}

extension SyncMachine {
  var circle: Circle { get async throws { try await vault.circle } }
}

/// A version of an item in a file that is encrypted to the members of a circle, as whoever can read it can make one.
struct Forgery {
  var circle: Circle
  var keys: MemberKeys
  var id: MemberID
  var circleID: String
  var clock: LogicalClock
  var seen: VersionVector?
  var times: (created: Double, modified: Double) = (0, 0)
  var item = NewItem(.genericPassword, [:], access: AccessControl(.none))
  var secretCount: Int?
  var commitment: [UInt8]?
  var name: [UInt8]?
  var epoch: Int

  /// A valid one, by a member.
  init(by circle: Circle) throws {
    (self.circle, keys, id, circleID) = (circle, circle.keys, circle.id, circle.circle)
    (epoch, clock) = (circle.epoch, LogicalClock(circle.epoch, 900))
    self = try named("forged") { _ in }
  }

  func with(_ change: (inout Forgery) throws -> Void) rethrows -> Forgery {
    var other = self
    try change(&other)
    return other
  }

  func named(_ name: String, _ change: (inout Forgery) throws -> Void) throws -> Forgery {
    try with {
      $0.item = NewItem(named: try ItemName(parsing: name), access: AccessControl(.none))
      $0.item.attributes[.synchronizable] = .number(1)
      try change(&$0)
    }
  }

  /// The path and the contents, encrypted to the members of another state of the circle.
  func file(for members: [Member]? = nil) throws -> (path: String, contents: [UInt8]) {
    let hidden = try HiddenSecret(SecretBytes(text: "iron"))
    var head = Revision.Head(
      clock: clock, created: 0, item: DescribedItem(item, secret: secretCount ?? 4),
      commitment: commitment ?? hidden.commitment, modified: 0, name: name, seen: seen ?? [id.description: clock])
    (head.created, head.modified) = times
    let members = members ?? circle.members
    let revision = try Revision(
      head, secretFile: hidden.file(under: SecretLock(item), for: members, epoch: epoch), of: circleID, by: keys, as: id
    )
    let name = try #require(circle.recordNames).name(of: ItemRecord(item, head).primary)
    return (SyncPath.item(name).text, try revision.sealed(to: members.recipients, epoch: epoch))
  }
}
