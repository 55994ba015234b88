package import SecretModel

/// What the signer of a list of members has changed in the list before it, as far as a person has to say yes to it.
package struct MemberListChange: Sendable {
  package let signer: MemberID
  /// New members, and those with new keys.
  package let added: [MemberID]
  /// Members that are gone, and those that have new keys in the place of their earlier ones.
  package let removed: [MemberID]

  init(from before: CircleRecord, to after: CircleRecord) throws(VaultError) {
    let (old, new) = (try Self.entries(before), try Self.entries(after))
    let signer = after.signer
    let renewed = old.compactMap { id, member in
      // Whatever another member changes in an entry is as good as another member. One may give up keys of one's own.
      new[id].map { id == signer ? $0.hasNewKeys(since: member) : $0 != member } ?? false ? id : nil
    }
    self.signer = signer
    added = (new.keys.filter { old[$0] == nil } + renewed).sorted()
    removed = (old.keys.filter { new[$0] == nil } + renewed).sorted()
  }

  /// Whether it needs nobody's yes: the signer has removed itself, or has changed nothing that anything is encrypted to.
  ///
  /// New keys of its own need one. Whoever has a machine's keys for sharing, and not those of its classes and its
  /// passcode, would get what needs these by keys of his own.
  var needsNobody: Bool { added.isEmpty && removed.allSatisfy { $0 == signer } }

  private static func entries(_ list: CircleRecord) throws(VaultError) -> [MemberID: Member] {
    var entries: [MemberID: Member] = [:]
    for member in list.members { entries[try member.id] = member }
    return entries
  }
}
