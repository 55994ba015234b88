import Executors
import Fingerprint
import GRDB
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// The items that die when a finger is enrolled on the attached reader, or taken out of its set.
  package func boundItems() async throws(VaultError) -> [ItemName] {
    let sets = try verifiedSets()
    guard let first = sets.first else { return [] }
    let changing: StoredSet?
    do throws(VaultError) {
      let attached = try await attachedReader()
      changing = sets.first { $0.set.reader == attached.identity && $0.set.nature == attached.nature }
    } catch {
      // Taking a finger out needs no reader when there is one set only.
      guard sets.count == 1 else { throw error }
      changing = first
    }
    guard let changing else { return [] }
    let store = store
    return try store.read { moment in
      try ItemRow.fetchAll(
        moment.db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND dead = 0 AND generation = ?",
        arguments: [store.owner, changing.set.generation.data]
      ).compactMap { row in
        guard let access = row.accessControl.map(Requirement.init),
          access.without(Wrapping.closed(row.itemKey, access)).always(.boundFinger)
        else { return nil }
        return store.record(of: row)?.name
      }
    }
  }

  /// Enrols a finger, or enrols it anew, after the passcode (the recovery key where none is set).
  ///
  /// A confirming touch at the end shows that the print works and belongs to no other finger of the set. Until then
  /// nothing has changed. Then the set gets a new generation, and every item bound to the old one is dead.
  func enroll(_ finger: Finger, _ request: Request) async throws(VaultError) -> SetChange {
    try await asking(request) { context throws(VaultError) in
      try await self.authorizeChange(context)
      return try await self.withReader(for: .enroll(finger), context) { lease throws(VaultError) in
        try await self.enroll(finger, on: lease, context)
      }
    }
  }

  /// Takes one finger, or all of them, out of the set. The reader is needed only to clear its chip.
  func unenroll(_ finger: Finger?, _ request: Request) async throws(VaultError) -> SetChange {
    try await asking(request) { context throws(VaultError) in
      let damaged = try self.currentStatus().damagedSets
      guard finger == nil, damaged > 0 else {
        let stored = try await self.setToChange(holding: finger)
        try await self.authorizeChange(context)
        return try await self.unenroll(finger, from: stored, context)
      }
      // The way back from a set whose record was damaged.
      try await self.authorizeChange(context)
      let store = self.store
      let lost = try store.commit { change in try change.dropDamagedSets() }
      guard let stored = try self.verifiedSets().first(where: { !$0.set.enrolments.isEmpty }) else {
        return SetChange(finger: nil, fingers: [], lost: lost)
      }
      var change = try await self.unenroll(nil, from: stored, context)
      change.lost += lost
      return change
    }
  }

  private func unenroll(_ finger: Finger?, from stored: StoredSet, _ context: Context)
    async throws(VaultError) -> SetChange
  {
    var set = stored.set
    let removed = finger.map { finger in set.enrolments.filter { $0.finger == finger } } ?? set.enrolments
    set.enrolments.removeAll { removed.contains($0) }
    let prints = try prints(of: stored)
    if stored.set.reader.isFprintd {
      // There the finger would come back by itself: fprintd has to forget it first.
      for gone in removed { try await deleteFromFprintd(gone, prints, set, context) }
    }
    let lost = try replace(stored, with: set, adding: [])
    for gone in removed where gone.onChip && !stored.set.reader.isFprintd {
      guard let print = prints.first(where: { $0.id == gone.id }) else { continue }
      await deleteFromChip(print.template, gone.finger, set, nil, context)
    }
    return SetChange(finger: finger, fingers: set.enrolledFingers, lost: lost)
  }

  private func enroll(_ finger: Finger, on lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> SetChange
  {
    let (store, reader) = (store, lease.description)
    // Whatever others have changed is theirs, and not this enrolment's.
    if reader.identity.isFprintd { _ = try await fprintdSetIfAny(on: lease, context) }
    let stored = try store.read { moment in try moment.set(of: reader.identity, reader.nature) }
    let known = try stored.map { stored throws(VaultError) in try self.prints(of: stored) } ?? []
    let (template, lift) = try await enrolTemplate(finger, lease, context)
    let print = EnrolledPrint(id: EnrolmentID(bytes: randomID()), template: template)
    let onChip = reader.features.contains(.storage)
    do throws(VaultError) {
      if reader.features.contains(.storageList) {
        let chip = try await chipList(lease, knowing: known + [print], context)
        guard chip.present.contains(print.id) else { throw .reader(.notOnChip) }
        if !chip.unknown.isEmpty { context.events.yield(.notice(.unknownPrintsOnChip(chip.unknown.count))) }
      }
      // The finger of the last stage must not answer for the confirming touch.
      await lift.lifted(within: context.options.timeout)
      let others = known.filter { other in
        stored?.set.enrolments.contains { $0.id == other.id && $0.finger != finger } ?? false
      }
      try await confirm(print, finger, others: others, stored?.set, lease, context)
      var set =
        stored?.set
        ?? EnrolmentSet(owner: store.owner, reader: reader.identity, nature: reader.nature, admission: .passcode)
      set.admission = .passcode
      let replaced = set.enrolments.filter { $0.finger == finger }
      set.enrolments.removeAll { $0.finger == finger }
      set.enrolments.append(
        .init(
          id: print.id, finger: finger, onChip: onChip, templateDigest: Digest.sha256(template.bytes),
          enrolled: Int64(time(nil))))
      let lost = try replace(stored, with: set, adding: [print])
      lease.checkedSet = (try? store.read { moment in try moment.set(of: reader.identity, reader.nature) })?.digest
      for old in replaced where old.onChip && !reader.identity.isFprintd {
        guard let print = known.first(where: { $0.id == old.id }) else { continue }
        await deleteFromChip(print.template, finger, set, lease, context)
      }
      return SetChange(finger: finger, fingers: set.enrolledFingers, lost: lost)
    } catch {
      // Nothing was changed in the store: leave no print behind on the chip either, also when this was cancelled.
      if onChip {
        let deletion = Task(executorPreference: BackgroundThread.shared) {
          try await lease.ask { try await $0.delete(template) }
        }
        if case .failure(let error) = await deletion.result {
          context.events.yield(.notice(.leftOnChip(finger, error as? ReaderError ?? .device("\(type(of: error))"))))
        }
      }
      throw error
    }
  }

  private func enrolTemplate(_ finger: Finger, _ lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> (Template, FingerLift)
  {
    let request = TouchRequest(purpose: .enroll(finger), reader: lease.description, passcodeInstead: false)
    let activity = Activity()
    let lift = lease.beginScan()
    let events = context.events
    let observer: ScanObserver = { event in
      activity.note()
      lift.note(event)
      switch event {
      case .fingerNeeded: events.yield(.touchWanted(request))
      case .stage(let completed, let total): events.yield(.enrolmentStage(completed: completed, of: total))
      case .retry(let reason): events.yield(.retry(reason))
      default: if let shown = AuthenticationEvent(event) { events.yield(shown) }
      }
    }
    let template = try await touchAnswer(context, activity: activity) {
      try await lease.ask { try await $0.enroll(as: finger, observer: observer) }
    }
    return (template, lift)
  }

  /// The confirming touch: the new print must match it, and no other finger's may.
  private func confirm(
    _ print: EnrolledPrint, _ finger: Finger, others: [EnrolledPrint], _ set: EnrolmentSet?,
    _ lease: ReaderLease, _ context: Context
  ) async throws(VaultError) {
    let reader = lease.description
    let request = TouchRequest(purpose: .confirm(finger), reader: reader, passcodeInstead: false)
    let events = context.events
    var failed = 0
    while true {
      let nonce = ScanNonce(bytes: randomID())
      let lift = lease.beginScan()
      let observer: ScanObserver = { event in
        lift.note(event)
        if case .fingerNeeded = event { events.yield(.touchWanted(request)) }
        if let shown = AuthenticationEvent(event) { events.yield(shown) }
      }
      // The others come first: identification stops at the first hit. fprintd does not say which it was, and refuses by
      // itself to enrol a finger that it has under another name.
      let verifies = others.isEmpty || reader.identity.isFprintd || !reader.features.contains(.identify)
      let scan = try await touchAnswer(context) {
        try await lease.ask { source in
          verifies
            ? try await source.verify(print, nonce: nonce, observer: observer)
            : try await source.identify(others + [print], nonce: nonce, observer: observer)
        }
      }
      guard scan.nonce == nonce else { throw .touchRefused }
      switch scan.outcome {
      case .match(print.id):
        events.yield(.matched)
        return
      case .match(let other):
        throw .fingerDuplicate(set?.enrolments.first { $0.id == other }?.finger)
      case .retry(let reason): events.yield(.retry(reason))
      case .noMatch:
        failed += 1
        events.yield(.noMatch(remaining: Lockout.perRequest - failed))
        guard failed < Lockout.perRequest else { throw .authenticationFailed }
      }
      await lift.lifted(within: context.options.timeout)
    }
  }

  /// Writes the changed set under a new generation and ends what was bound to the old one.
  func replace(_ old: StoredSet?, with changed: EnrolmentSet, adding prints: [EnrolledPrint])
    throws(VaultError) -> [ItemName]
  {
    var set = changed
    set.generation = randomID()
    let store = store
    let lost = try store.commit { change in
      let now = try change.set(of: set.reader, set.nature)
      guard now?.digest == old?.digest else { throw VaultError.setChanged }
      let index = store.readerIndex(set.reader, set.nature)
      try change.put(set)
      if change.authority.adapter == nil { change.authority.adapter = set.reader.adapter }
      for gone in old?.set.enrolments ?? [] where !set.enrolments.contains(where: { $0.id == gone.id }) {
        try change.db.execute(sql: "DELETE FROM enrolment WHERE id = ?", arguments: [gone.id.bytes.data])
      }
      for print in prints {
        let box = try sealRecord(
          print.template.bytes, key: store.keys.derive("templates"), aad: store.templateAAD(print.id, index))
        try change.db.execute(
          sql: "INSERT INTO enrolment (id, reader, template) VALUES (?, ?, ?)",
          arguments: [print.id.bytes.data, index.data, box.data])
      }
      guard let old else { return [ItemName]() }
      return try change.kill(where: "generation = ?", [old.set.generation.data], by: .boundFinger)
    }
    store.database.forgetOldPages()
    return lost
  }

  /// The set that loses a finger: that of the reader attached, or the only one that holds the finger.
  private func setToChange(holding finger: Finger?) async throws(VaultError) -> StoredSet {
    let store = store
    let sets = try store.read { moment in
      try moment.sets().filter { stored in
        finger.map { finger in stored.set.enrolments.contains { $0.finger == finger } } ?? !stored.set.enrolments
          .isEmpty
      }
    }
    guard let first = sets.first else {
      if let finger { throw .fingerNotEnrolled(finger) }
      throw .notEnrolled
    }
    if sets.count == 1 { return first }
    let attached = try await attachedReader()
    guard let set = sets.first(where: { $0.set.reader == attached.identity && $0.set.nature == attached.nature }) else {
      throw .notEnrolled
    }
    return set
  }

  /// - Parameter lease: nil where the request has not claimed the reader.
  private func deleteFromChip(
    _ template: Template, _ finger: Finger, _ set: EnrolmentSet, _ lease: ReaderLease?, _ context: Context
  ) async {
    do throws(VaultError) {
      if let lease {
        try await answer(context) { try await lease.ask { try await $0.delete(template) } }
      } else {
        try await delete(template, from: set, context)
      }
    } catch {
      let reason: ReaderError = if case .reader(let error) = error { error } else { .absent }
      guard reason != .notOnChip else { return }
      context.events.yield(.notice(.leftOnChip(finger, reason)))
    }
  }

  /// Has the reader of a set forget a print.
  func delete(_ template: Template, from set: EnrolmentSet, _ context: Context) async throws(VaultError) {
    try await withReader(for: nil, context) { lease throws(VaultError) in
      guard lease.description.identity == set.reader, lease.description.nature == set.nature else {
        throw .reader(.absent)
      }
      try await self.answer(context) { try await lease.ask { try await $0.delete(template) } }
    }
  }

  /// Changing the set needs the passcode, or the recovery key where there is none.
  func authorizeChange(_ context: Context) async throws(VaultError) {
    if try passcodeIsSet() {
      _ = try await provePasscode(context)
    } else {
      _ = try await proveRecoveryKey(context)
      try clearFailures()
    }
  }
}
