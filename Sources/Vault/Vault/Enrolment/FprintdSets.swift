import Fingerprint
import GRDB
import Glibc
import Keys

/// The sets of readers of fprintd: there the fingers are enrolled by the desktop's settings, and by whoever else fprintd
/// lets. Whorl's set follows them, and what was bound to the earlier one dies, as with any change of the set. The fingers
/// of an fprintd that a configuration puts in the place of the machine's own are followed only past the passcode.
struct FprintdSets {
  let readers: ReaderAccess
  let sets: EnrolmentSets

  private var store: Store { sets.store }

  /// The set of the open reader of fprintd as it is now, and its prints.
  ///
  /// A change is read twice before it counts, and counts at once then: fprintd's files say clearly what is enrolled.
  /// Without any set so far, fprintd's is the first; but a store whose fingers came through libfprint, past its
  /// passcode, takes over none of fprintd's before it was told to.
  ///
  /// - Parameter isAuthorized: the passcode was given for this change.
  /// - Throws: `fingersNotAccepted` where the reader is not physical and its fingers, as they are now, were not accepted
  ///   with the passcode. Nothing is changed then.
  func follow(on lease: ReaderLease, _ context: Context, isAuthorized: Bool = false)
    async throws(VaultError) -> (set: StoredSet, prints: [EnrolledPrint])
  {
    let (store, reader) = (store, lease.description)
    let stored = try sets.set(on: reader)
    let known = try stored.map { stored throws(VaultError) in try sets.prints(of: stored) } ?? []
    guard isAuthorized || known.count == stored?.set.enrolments.count ?? 0 else {
      // One that was edited in the store is no change of fprintd's.
      throw .storeDamaged("a fingerprint template does not verify")
    }
    let list = try await list(lease, knowing: known, stored, context)
    if let stored, list.unknown.isEmpty, list.present.count == stored.set.enrolments.count,
      !stored.set.enrolments.isEmpty, stored.set.counts || !isAuthorized
    {
      try stored.set.requireCounts()
      return (stored, known)
    }
    guard !(list.present.isEmpty && list.unknown.isEmpty) else {
      // None at all is what a fault looks like, too: it changes nothing.
      guard let stored, !stored.set.enrolments.isEmpty else { throw .notEnrolled }
      throw .printsGone(stored.set.enrolments.map(\.finger))
    }
    guard isAuthorized || reader.nature == .physical else { throw .fingersNotAccepted(reader.nature) }
    guard try await self.list(lease, knowing: known, stored, context) == list else { throw .setChanged }
    if stored == nil, !isAuthorized {
      let adapter = try store.read { moment in moment.authority.adapter }
      guard adapter != .libfprint else { throw .notEnrolled }
    }
    try take(list, in: stored, on: reader, admittedBy: isAuthorized ? .passcode : .fprintd, context)
    let followed = try sets.enrolled(on: reader)
    return (followed, try sets.prints(of: followed))
  }

  /// What fprintd has. Digests that cannot be compared any more, because the files cannot be read, are given up where
  /// nothing is bound to them.
  private func list(
    _ lease: ReaderLease, knowing known: [EnrolledPrint], _ stored: StoredSet?, _ context: Context
  ) async throws(VaultError) -> ChipList {
    do throws(VaultError) {
      return try await lease.chipList(knowing: known, context)
    } catch {
      guard case .reader(.permissionDenied) = error, let stored else { throw error }
      let isBound = try store.read { moment in
        try Bool.fetchOne(
          moment.db, sql: "SELECT EXISTS (SELECT 1 FROM item WHERE dead = 0 AND generation = ?)",
          arguments: [stored.set.generation.data]) ?? true
      }
      guard !isBound else { throw error }
      return try await lease.chipList(knowing: [], context)
    }
  }

  /// Makes fprintd's fingers the set, under a new generation.
  private func take(
    _ list: ChipList, in stored: StoredSet?, on reader: ReaderDescription, admittedBy admission: EnrolmentSet.Admission,
    _ context: Context
  ) throws(VaultError) {
    var set =
      stored?.set
      ?? EnrolmentSet(owner: store.owner, reader: reader.identity, nature: reader.nature, admission: admission)
    set.admission = admission
    let gone = set.enrolments.filter { !list.present.contains($0.id) }
    set.enrolments.removeAll { !list.present.contains($0.id) }
    var added: [EnrolledPrint] = []
    for template in list.unknown {
      guard let print = FprintdPrint(template) else { throw .reader(.badTemplate) }
      let enrolled = EnrolledPrint(id: EnrolmentID(bytes: randomID()), template: template)
      set.enrolments.append(
        .init(
          id: enrolled.id, finger: print.finger, onChip: true, templateDigest: Digest.sha256(template.bytes),
          enrolled: Int64(time(nil))))
      added.append(enrolled)
    }
    let lost = try sets.replace(stored, with: set, adding: added)
    if let stored, !stored.set.enrolments.isEmpty {
      context.events.yield(.notice(.changedElsewhere(gone.map(\.finger), lost: lost)))
    }
  }

  /// The same for a call that asks for no touch: claims the reader for a moment. Nil where it is none of fprintd's.
  func look() async throws(VaultError) -> StoredSet? {
    guard try await readers.attached().printKeeper == .service else { return nil }
    let context = Context(askingNobodyFor: store.owner)
    return try await readers.withReader(for: nil, context) { lease throws(VaultError) in
      guard lease.description.printKeeper == .service else { return nil }
      return try await follow(on: lease, context).set
    }
  }

  /// Takes over the fingers that the reader attached has now, after the passcode, where they do not count without it.
  func accept(_ context: Context) async throws(VaultError) {
    let attached: ReaderDescription
    do throws(VaultError) {
      attached = try await readers.attached()
    } catch {
      // What is not there now is asked about when it is used.
      return
    }
    guard attached.printKeeper == .service, attached.nature != .physical else { return }
    try await readers.withReader(for: nil, context) { lease throws(VaultError) in
      guard lease.description.identity == attached.identity, lease.description.nature == attached.nature else {
        throw .reader(.absent)
      }
      try await takeOver(on: lease, context)
    }
  }

  /// The same after the passcode, where no finger need be enrolled yet.
  func takeOver(on lease: ReaderLease, _ context: Context) async throws(VaultError) {
    do throws(VaultError) {
      _ = try await follow(on: lease, context, isAuthorized: true)
    } catch {
      guard case .notEnrolled = error else { throw error }
    }
  }

  /// Whether the set that a match was for is still fprintd's, where it is fprintd's at all.
  func stillHolds(_ grant: PresenceGrant) async throws(VaultError) -> Bool {
    let set = try store.read { moment in try moment.set(of: grant) }
    guard let before = set else { return false }
    guard before.set.reader.adapter == .fprintd else { return true }
    do throws(VaultError) {
      return try await look()?.digest == grant.setDigest
    } catch {
      // What cannot be looked at is shown anew.
      return false
    }
  }

  /// Refuses to bind to prints that cannot be told from others enrolled under their names.
  func requireDigests(of stored: StoredSet) throws(VaultError) {
    guard stored.set.reader.adapter == .fprintd else { return }
    let prints = try sets.prints(of: stored)
    guard prints.count == stored.set.enrolments.count, prints.allSatisfy({ FprintdPrint($0.template)?.digest != nil })
    else { throw .reader(.permissionDenied(FprintdPlace.unreadableFiles)) }
  }
}
