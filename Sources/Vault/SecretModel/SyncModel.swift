// Sync: the circle of machines, its members, and the calls of a vault about it.

package import Primitives

/// A file of a sync repository. Only the vault knows what the paths mean.
package struct SyncFile: Sendable, Hashable {
  /// The most bytes of one file: the longest secret, its attributes, and what encrypts them to 1,000 keys.
  package static let sizeLimit = NewItem.secretLimit + (512 << 10)
  /// The most bytes of the files of one call.
  package static let pageLimit = 8 << 20

  /// The line in the file `format` of a circle's repository.
  package static let formatLine = "whorl-sync 2"
  /// The same in a repository of the first format, which protected copies less.
  package static let earlierFormatLine = "whorl-sync 1"

  /// The path of the record of members with this number, from 1.
  package static func circleRecord(_ number: Int) -> String {
    let digits = String(number)
    return "circle/" + String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
  }

  /// Its path in the repository, in ASCII.
  package var path: String
  /// Nil where the repository no longer has the file, or is to have it no longer.
  package var contents: [UInt8]?

  package init(_ path: String, _ contents: [UInt8]?) { (self.path, self.contents) = (path, contents) }
}

/// Identifies a member of a circle: the beginning of a digest of its public keys.
package struct MemberID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The length in bytes.
  package static let byteCount = 16

  /// Hexadecimal, in lower case.
  package let description: String

  /// Nil for anything but 32 hexadecimal digits in lower case.
  package init?(_ text: String) {
    let isHexadecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    guard text.utf8.count == 2 * Self.byteCount, isHexadecimal else { return nil }
    description = text
  }

  package static func < (one: MemberID, other: MemberID) -> Bool { one.description < other.description }
}

/// A machine of a circle, or one that asks to be let in.
package struct SyncMember: Sendable, Hashable {
  package var id: MemberID
  /// What its owner calls it; empty for a machine whose owner has not agreed yet.
  package var name: String
  package var isThisMachine: Bool
  /// Six words that the two machines must show alike before one of them lets the other in; empty for a member, and until
  /// both machines have answered each other.
  package var words: [String]
  /// Where the machine keeps the root key of its store, as it says; nil if it says something unknown.
  package var tier: VaultStatus.Tier?
  /// Whether it has a passcode: without one it cannot read what needs it.
  package var hasPasscode: Bool
  /// Whether the owner of a machine that asks has said that the words are the same.
  package var hasAgreed: Bool

  package init(
    id: MemberID, name: String, isThisMachine: Bool, words: [String] = [], tier: VaultStatus.Tier? = nil,
    hasPasscode: Bool = false, hasAgreed: Bool = false
  ) {
    (self.id, self.name, self.isThisMachine, self.words) = (id, name, isThisMachine, words)
    (self.tier, self.hasPasscode, self.hasAgreed) = (tier, hasPasscode, hasAgreed)
  }
}

/// The state of a store in its circle, which is the machines that share items.
package struct SyncStatus: Sendable, Hashable {
  package enum Standing: String, Sendable, Hashable, CaseIterable {
    /// The store is in no circle.
    case none
    /// It has asked to be let in, and no member has approved yet.
    case asking
    case member
    /// Another member has removed it.
    case removed
    /// Its circle is of the first format, which protected copies less: it has to join again.
    case outdated
  }

  /// A change of the members that the owner of this machine has neither made nor confirmed.
  package struct MemberChange: Sendable, Hashable {
    /// The name of the machine that made it.
    package var by: String
    /// The names of the machines that it let in.
    package var added: [String]
    /// The names of the machines that it removed.
    package var removed: [String]

    package init(by: String, added: [String], removed: [String]) {
      (self.by, self.added, self.removed) = (by, added, removed)
    }
  }

  /// An item that has come in and cannot be stored yet.
  package struct Waiting: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
      /// It is bound to the enrolled fingers: one of them must be touched here.
      case touch
      /// Its class is closed.
      case locked
      /// It needs a passcode, and none is set.
      case passcode
      /// The passcode has to be given once here.
      case proof
      /// Another machine has to encrypt it for this one first.
      case recipients
      /// The store refused it: it is full, or the item is one that it cannot hold.
      case refused
    }

    package var item: ItemName
    package var reason: Reason

    package init(item: ItemName, reason: Reason) { (self.item, self.reason) = (item, reason) }
  }

  /// A version of an item that lost against another one that was written at the same time.
  package struct Kept: Sendable, Hashable {
    /// The first 16 hexadecimal digits of its record's name.
    package var id: String
    package var item: ItemName
    /// The name of the machine that wrote it.
    package var writer: String
    /// Seconds since 1970, by that machine's clock.
    package var written: Double

    package init(id: String, item: ItemName, writer: String, written: Double) {
      (self.id, self.item, self.writer, self.written) = (id, item, writer, written)
    }
  }

  package var standing: Standing
  /// The circle's identifier, hexadecimal; nil where the store is in none.
  package var circle: String?
  package var members: [SyncMember]
  /// Machines that ask to be let in.
  package var candidates: [SyncMember]
  /// The words of a machine that asks to be let in, once a member has answered, to be compared with those there; else
  /// empty.
  package var words: [String]
  /// Whether the owner of this machine, which asks, has said that the words are the same.
  package var hasAgreed: Bool
  /// Until its owner has confirmed these, this machine publishes nothing.
  package var unconfirmed: [MemberChange]
  /// Whether its owner has refused a change of the members: then it shares nothing.
  package var isLocked: Bool
  /// Whether members have signed two different lists that follow the same one: then it publishes nothing either.
  package var isForked: Bool
  /// The number of items in the circle.
  package var items: Int
  /// How many records the repository does not have yet.
  package var pending: Int
  package var waiting: [Waiting]
  package var kept: [Kept]
  /// How many records the repository had and has no longer.
  package var lost: Int

  package init(
    standing: Standing = .none, circle: String? = nil, members: [SyncMember] = [], candidates: [SyncMember] = [],
    words: [String] = [], hasAgreed: Bool = false, unconfirmed: [MemberChange] = [], isLocked: Bool = false,
    isForked: Bool = false, items: Int = 0, pending: Int = 0, waiting: [Waiting] = [], kept: [Kept] = [], lost: Int = 0
  ) {
    (self.hasAgreed, self.unconfirmed) = (hasAgreed, unconfirmed)
    (self.isLocked, self.isForked) = (isLocked, isForked)
    self.standing = standing
    self.circle = circle
    self.members = members
    self.candidates = candidates
    self.words = words
    self.items = items
    self.pending = pending
    self.waiting = waiting
    self.kept = kept
    self.lost = lost
  }
}

/// The result of taking files of a repository.
package struct SyncReceipt: Sendable, Hashable {
  /// A file that was not taken.
  package struct Refusal: Sendable, Hashable {
    package var path: String
    /// Why, in a sentence without a full stop.
    package var reason: String

    package init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }
  }

  /// Items that are new here, or have another secret, attributes or rule now.
  package var changed: [ItemName]
  /// Items that are gone.
  package var removed: [ItemName]
  /// Items of which another version is kept beside the current one.
  package var kept: [ItemName]
  package var refused: [Refusal]
  /// Whether the repository offers less than this machine has seen there.
  package var wentBack: Bool
  /// Whether the last call saw files that no member has published together; then what is here may be outdated.
  package var isMixed: Bool

  package init(
    changed: [ItemName] = [], removed: [ItemName] = [], kept: [ItemName] = [], refused: [Refusal] = [],
    wentBack: Bool = false, isMixed: Bool = false
  ) {
    self.changed = changed
    self.removed = removed
    self.kept = kept
    self.refused = refused
    self.wentBack = wentBack
    self.isMixed = isMixed
  }
}

/// Files that belong into the repository.
package struct SyncBatch: Sendable, Hashable {
  package var files: [SyncFile]
  /// Where the next page begins; nil after the last one. All pages belong into one commit.
  package var next: String?

  package init(files: [SyncFile], next: String?) { (self.files, self.next) = (files, next) }
}

/// How a store enters a circle.
package enum SyncBeginning: Sendable, Hashable {
  /// It makes a new circle, of which it is the only member.
  case new(machine: String)
  /// It asks to be let into the circle whose records these are: all files under `circle/`.
  case join(machine: String, records: [SyncFile])
}

/// A step of a person, or of the program that they use, that concerns a circle's members.
package enum SyncMemberChange: Sendable, Hashable {
  /// Answers a machine that asks, so that both show words. Asks nobody: only ``approve(_:replacing:)`` lets it in.
  case answer(MemberID)
  /// On the machine that asks: the other one shows the same words.
  case agree
  /// Lets a machine in whose owner has agreed.
  ///
  /// - Parameter replacing: an earlier entry of the same machine, which was restored.
  case approve(MemberID, replacing: MemberID?)
  /// Forgets a machine that asks. Asks nobody.
  case refuse(MemberID)
  case remove(MemberID)
  /// Follows the changes of the members that others have made.
  case confirm
  /// Refuses them: this machine shares nothing until they are confirmed, or it has left. Asks nobody.
  case reject
  /// Ends the membership of this machine. Its items stay.
  case leave
}

/// What a person decides about an item.
package enum SyncResolution: Sendable, Hashable {
  /// Makes the kept version the current one.
  case use(kept: String)
  /// Drops the kept version.
  case drop(kept: String)
  /// Stores the waiting items of this name, bound to the fingers enrolled here if they are to be.
  case bind(ItemName)
  /// Opens everything that waits for the passcode.
  case open
}

/// The calls of an open vault about its circle: the machines that share items. What they return of items is encrypted
/// to the members of the circle, so most of them ask nobody.
package protocol SyncService: Sendable {
  func status() async throws(VaultError) -> SyncStatus
  /// Makes a circle, or asks to be let into one. Asks for the passcode (the recovery key if none is set).
  ///
  /// - Throws: `invalidRequest` where the store is in a circle already, `fileUnreadable` for records that do not verify.
  func begin(_ beginning: SyncBeginning, _ asking: Asking) async throws(VaultError)
  /// Brings in the items of a circle whose machines are all lost, and makes a new circle.
  ///
  /// - Parameters:
  ///   - records: all files under `circle/`.
  ///   - recoveryKey: of one of the lost stores.
  /// - Throws: `wrongRecoveryKey`, `malformedRecoveryKey`, and the errors of ``begin(_:_:)``.
  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ asking: Asking
  ) async throws(VaultError)
  /// The identity with which `age` opens every file of a circle, in the form that age reads, from the recovery key of one of
  /// its machines. Neither reads nor changes the store.
  ///
  /// - Throws: `wrongRecoveryKey`, `malformedRecoveryKey`, `fileUnreadable`.
  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes
  /// Takes files that the repository has or no longer has. Verifies each, and stores what is newer. Asks nobody.
  ///
  /// - Parameters:
  ///   - files: at most ``SyncFile/pageLimit`` bytes together. Files under `circle/` come before all others.
  ///   - isLast: whether these are the last ones of a state of the repository.
  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt
  /// The files that the repository, as it was received last, should have. Asks nobody. They count as published when they
  /// are received again.
  ///
  /// - Parameters:
  ///   - after: ``SyncBatch/next`` of the page before; nil for the first one.
  ///   - puttingBack: whether to publish again what the repository has lost. Without this a repository that has lost
  ///     something gets nothing.
  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch
  /// Changes the members. Asks for a finger or the passcode.
  ///
  /// - Throws: `itemGone` for an unknown machine.
  func change(_ change: SyncMemberChange, _ asking: Asking) async throws(VaultError)
  /// Carries out what a person has decided about an item, after what its rule requires.
  ///
  /// - Throws: `itemGone` where nothing of that name is kept or waits.
  func resolve(_ resolution: SyncResolution, _ asking: Asking) async throws(VaultError)
  /// Waits until the number of records that the repository lacks, or of what needs a person, is another one than the
  /// caller knows, and returns it. Ends with `cancelled` when the task is cancelled.
  func change(from known: Int) async throws(VaultError) -> Int
}
