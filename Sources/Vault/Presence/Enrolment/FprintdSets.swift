import GRDB
import Glibc
import Keys
import Primitives
import VaultStore

/// The sets of fprintd's readers. Their fingers are enrolled in the desktop's settings, or by any other program that
/// fprintd allows. Whorl's set follows fprintd's fingers, and items bound to the earlier set die, as with any change of
/// a set. If a configuration replaces the machine's own fprintd by another, its fingers are followed only with the
/// passcode.
package struct FprintdSets {
  let readers: ReaderAccess
  let sets: EnrolmentSets

  private var store: Store { sets.store }

  /// Follows the fingers of fprintd's open reader. Returns the current set and its prints.
  ///
  /// A change is read twice and then taken over at once, since fprintd's files are a reliable list of what is enrolled.
  /// A store without fingers takes fprintd's as its first set. A store whose fingers were enrolled through libfprint,
  /// with its passcode, takes fprintd's only on request.
  ///
  /// - Parameter isAuthorized: whether the passcode was given for this change.
  /// - Throws: `fingersNotAccepted` if the reader is not physical and its current fingers were not accepted with the
  ///   passcode. Nothing is changed then.
  func follow(on lease: ReaderLease, _ context: Context, isAuthorized: Bool = false)
    async throws(VaultError) -> (set: StoredSet, prints: [EnrolledPrint])
  {
    let (store, reader) = (store, lease.description)
    let stored = try sets.set(on: reader)
    let known = try stored.map { stored throws(VaultError) in try sets.prints(of: stored) } ?? []
    guard isAuthorized || known.count == stored?.set.enrolments.count ?? 0 else {
      // A template that was edited in the store is damage, not a change in fprintd.
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
      // An empty list may also be a fault, so it changes nothing.
      guard let stored, !stored.set.enrolments.isEmpty else { throw .notEnrolled }
      throw .printsGone(stored.set.enrolments.map(\.finger))
    }
    guard isAuthorized || reader.nature == .physical else { throw .fingersNotAccepted(reader.nature) }
    guard try await self.list(lease, knowing: known, stored, context) == list else { throw .setChanged }
    if stored == nil, !isAuthorized {
      let adapter = try store.read { snapshot in snapshot.authority.adapter }
      guard adapter?.sharesFingers != false else { throw .notEnrolled }
    }
    try take(list, in: stored, on: reader, admittedBy: isAuthorized ? .passcode : .fprintd, context)
    let followed = try sets.enrolled(on: reader)
    return (followed, try sets.prints(of: followed))
  }

  /// fprintd's list of prints. If its files can no longer be read, digests cannot be compared; they are dropped if no
  /// item is bound to the set.
  private func list(
    _ lease: ReaderLease, knowing known: [EnrolledPrint], _ stored: StoredSet?, _ context: Context
  ) async throws(VaultError) -> ChipList {
    do throws(VaultError) {
      return try await lease.chipList(knowing: known, context)
    } catch {
      guard case .reader(.fprintdFilesUnreadable) = error, let stored else { throw error }
      let isBound = try store.read { snapshot in
        try Bool.fetchOne(
          snapshot.db, sql: "SELECT EXISTS (SELECT 1 FROM item WHERE dead = 0 AND generation = ?)",
          arguments: [stored.set.generation.data]) ?? true
      }
      guard !isBound else { throw error }
      return try await lease.chipList(knowing: [], context)
    }
  }

  /// Makes fprintd's fingers the set, with a new generation.
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
    // fprintd has each finger once.
    guard Set(set.enrolments.map(\.finger)).count == set.enrolments.count else { throw .reader(.badTemplate) }
    let lost = try sets.replace(stored, with: set, adding: added)
    if let stored, !stored.set.enrolments.isEmpty {
      context.events.yield(.notice(.changedElsewhere(gone.map(\.finger), lost: lost)))
    }
  }

  /// Follows fprintd's fingers for a call that asks for no touch; claims the reader briefly. Nil for another adapter's
  /// reader.
  func look() async throws(VaultError) -> StoredSet? {
    guard try await readers.attached().sharesFingers else { return nil }
    let context = Context(askingNobodyFor: store.owner)
    let reader = try await readers.take(for: nil, context)
    let set = reader.lease.description.sharesFingers ? try await follow(on: reader.lease, context).set : nil
    reader.succeed()
    return set
  }

  /// The set of the attached reader and the fingers that fprintd has there at this moment. Changes nothing. Nil for a
  /// reader of another adapter, and one without a set.
  func present() async throws(VaultError) -> (set: StoredSet, fingers: [EnrolledFinger])? {
    guard try await readers.attached().sharesFingers else { return nil }
    let context = Context(askingNobodyFor: store.owner)
    let reader = try await readers.take(for: nil, context)
    guard reader.lease.description.sharesFingers, let stored = try sets.set(on: reader.lease.description) else {
      reader.succeed()
      return nil
    }
    let now = try await reader.lease.chipList(knowing: [], context).unknown.compactMap { FprintdPrint($0) }
    reader.succeed()
    let known = try sets.prints(of: stored)
    let fingers = now.map { print in
      // A finger that was enrolled again under its earlier name is a new one.
      let same = known.first { FprintdPrint($0.template).map(print.isStill) == true }
      let enrolment = same.flatMap { same in stored.set.enrolments.first { $0.id == same.id } }
      return EnrolledFinger(
        finger: print.finger, onChip: true, enrolled: enrolment?.enrolled ?? Int64(time(nil)))
    }
    return (stored, fingers)
  }

  /// Takes over the attached reader's current fingers, after the passcode, if they need its approval.
  package func accept(_ context: Context) async throws(VaultError) {
    let attached: ReaderDescription
    do throws(VaultError) {
      attached = try await readers.attached()
    } catch {
      // No reader is attached. Its fingers are approved at its next use.
      return
    }
    guard attached.sharesFingers, attached.nature != .physical else { return }
    let reader = try await readers.take(for: nil, context)
    let taken = reader.lease.description
    guard taken.identity == attached.identity, taken.nature == attached.nature else { throw .reader(.absent) }
    try await takeOver(on: reader.lease, context)
    reader.succeed()
  }

  /// Follows fprintd's fingers after the passcode was given. Not an error if none is enrolled yet.
  func takeOver(on lease: ReaderLease, _ context: Context) async throws(VaultError) {
    do throws(VaultError) {
      _ = try await follow(on: lease, context, isAuthorized: true)
    } catch {
      guard case .notEnrolled = error else { throw error }
    }
  }

  /// Whether the set of a match is still the same; for a set of fprintd's, asks fprintd.
  func stillHolds(_ grant: PresenceGrant) async throws(VaultError) -> Bool {
    let set = try store.read { snapshot in try snapshot.set(of: grant) }
    guard let before = set else { return false }
    guard before.set.reader.adapter.sharesFingers else { return true }
    do throws(VaultError) {
      return try await look()?.digest == grant.setDigest
    } catch {
      // If fprintd cannot be asked, the person must touch again.
      return false
    }
  }

  /// Refuses to bind to prints without digests: other prints, enrolled later under the same names, would look the same.
  func requireDigests(of stored: StoredSet) throws(VaultError) {
    guard stored.set.reader.adapter.sharesFingers else { return }
    let prints = try sets.prints(of: stored)
    guard prints.count == stored.set.enrolments.count, prints.allSatisfy({ FprintdPrint($0.template)?.digest != nil })
    else { throw .reader(.fprintdFilesUnreadable(nil)) }
  }
}
