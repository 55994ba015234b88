package import SecretModel

/// What the signer of a list of members has changed in the list before it.
package struct MemberListChange: Sendable {
  package let signer: MemberID
  package let added: [MemberID]
  package let removed: [MemberID]

  init(from before: CircleRecord, to after: CircleRecord) throws(VaultError) {
    var (old, new) = (Set<MemberID>(), Set<MemberID>())
    for member in before.members { old.insert(try member.id) }
    for member in after.members { new.insert(try member.id) }
    signer = after.signer
    added = new.subtracting(old).sorted()
    removed = old.subtracting(new).sorted()
  }

  /// Whether the signer has changed its own entry alone, or removed itself. Such a change needs no confirmation.
  static func concernsItsSignerAlone(
    from before: CircleRecord, to after: CircleRecord
  ) throws(VaultError) -> Bool {
    try others(in: before, than: after.signer) == others(in: after, than: after.signer)
  }

  private static func others(in list: CircleRecord, than signer: MemberID) throws(VaultError) -> [Member] {
    var others: [Member] = []
    for member in list.members where try member.id != signer { others.append(member) }
    return others
  }
}
