// Copies of what the store has: a sealed copy of one secret, the contents of a backup, and a store that was put back.

package import Primitives

/// A sealed copy of a secret that can be opened without the store, with the passcode that was set when it was sealed or
/// with the recovery key. It may be kept where others can read it, but they can then try passcodes as fast as their
/// machine allows.
package struct SealedCopy: Sendable, Hashable {
  /// The keys that a copy is sealed under.
  package enum Keys: String, Sendable, Hashable, CaseIterable {
    /// The passcode and the recovery key.
    case passcodeAndRecoveryKey = "passcode-and-recovery-key"
    /// Only the recovery key, which nobody can guess.
    case recoveryKey = "recovery-key"
  }

  /// What opens a copy.
  package enum Opening: ~Copyable, Sendable {
    case passcode(SecretBytes)
    /// The recovery key, in the form in which it was shown.
    case recoveryKey(SecretBytes)
  }

  private static let beginning = Array("whorl sealed copy 1 ".utf8)
  /// The longest copy that is read, in bytes.
  package static let limit = 64 << 10

  /// The keys that it is sealed under.
  package let keys: Keys
  /// The wrapped keys. They change only with the passcode or the recovery key.
  package let head: [UInt8]
  /// The secret, sealed once for each way to open it.
  package let boxes: [UInt8]

  package init(under keys: Keys, head: [UInt8], boxes: [UInt8]) {
    self.keys = keys
    self.head = head
    self.boxes = boxes
  }

  /// Decodes ``bytes``; nil for anything else.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.limit, bytes.starts(with: Self.beginning) else { return nil }
    let parts = bytes.dropFirst(Self.beginning.count).split(
      separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let keys = Keys(rawValue: String(decoding: parts[0], as: UTF8.self)), parts[1].count >= 4
    else { return nil }
    let count = parts[1].prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let rest = parts[1].dropFirst(4)
    guard count <= rest.count else { return nil }
    self.init(under: keys, head: Array(rest.prefix(count)), boxes: Array(rest.dropFirst(count)))
  }

  /// The encoded copy, for files and the bus: a line of text, the length of the head, the head, the boxes.
  package var bytes: [UInt8] {
    let length = unsafe withUnsafeBytes(of: UInt32(head.count).bigEndian) { unsafe Array($0) }
    return Self.beginning + Array("\(keys.rawValue)\n".utf8) + length + head + boxes
  }
}

/// What a backup would change in the store that it was made of.
package struct BackupContents: Sendable {
  /// Identifies the shown state of store and backup. Restoring fails if either has changed since.
  package struct ID: Sendable, Hashable {
    package let digest: [UInt8]

    package init(digest: [UInt8]) { self.digest = digest }
  }

  /// What is needed to restore it.
  package enum Proof: String, Sendable {
    case passcode
    /// The store has no passcode, or has another one than when the backup was made.
    case recoveryKey = "recovery key"
  }

  package var id: ID
  package var proof: Proof
  /// The number of living items in the backup.
  package var items: Int
  /// Living items of the store that the backup does not have: they are lost.
  package var removed: [ItemName]
  /// Living items of the backup that the store does not have.
  package var returning: [ItemName]
  /// Items of both that become what they were.
  package var changed: [ItemName]
  /// Living items of the backup that are bound to fingers or a passcode that are gone: they come back dead.
  package var dead: [ItemName]

  package init(
    id: ID, proof: Proof, items: Int, removed: [ItemName], returning: [ItemName], changed: [ItemName],
    dead: [ItemName]
  ) {
    self.id = id
    self.proof = proof
    self.items = items
    self.removed = removed
    self.returning = returning
    self.changed = changed
    self.dead = dead
  }
}

/// What a partial restore of the store's files from an earlier copy would bring back. Until it is accepted, nothing is
/// stored, and no item is released that asks for a finger or a passcode.
package struct DetectedRestore: Sendable {
  /// Identifies the shown state. Accepting fails if the store has changed since.
  package struct ID: Sendable, Hashable {
    package let digest: [UInt8]

    package init(digest: [UInt8]) { self.digest = digest }
  }

  /// What is needed to accept it.
  package enum Acceptance: String, Sendable {
    /// The passcode, which is the one last set.
    case passcode
    /// The recovery key, in a store without a passcode.
    case recoveryKey = "recovery key"
    /// The recovery key, and a new passcode: no record shows that the restored passcode is the last one.
    case recoveryKeyAndNewPasscode = "recovery key and a new passcode"
  }

  package var id: ID
  package var acceptance: Acceptance
  /// The restored fingers, by reader.
  package var sets: [SetStatus]
  /// Whether the restored fingers are dropped when the restore is accepted, and must be enrolled again: no record shows
  /// that they are the last ones.
  package var fingersAreForgotten: Bool
  /// The restored living items.
  package var items: [ItemName]
  /// Those of the items that die with dropped fingers.
  package var lost: [ItemName]

  package init(
    id: ID, acceptance: Acceptance, sets: [SetStatus], fingersAreForgotten: Bool, items: [ItemName], lost: [ItemName]
  ) {
    self.id = id
    self.acceptance = acceptance
    self.sets = sets
    self.fingersAreForgotten = fingersAreForgotten
    self.items = items
    self.lost = lost
  }
}
