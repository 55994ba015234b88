import Glibc
import Keys
package import Primitives
import VaultStore

/// Enrols fingers and removes them from their set, after the passcode, or the recovery key if no passcode is set.
package struct FingerEnrolment {
  let passcodes: Passcodes
  let readers: ReaderAccess
  let sets: EnrolmentSets
  let fprintd: FprintdSets

  /// Enrols a finger, or enrols it again.
  ///
  /// A confirming touch at the end shows that the print works and belongs to no other finger of the set. Only then is
  /// the set changed: it gets a new generation, and every item bound to the old one dies.
  package func enroll(_ finger: Finger, _ context: Context) async throws(VaultError) -> SetChange {
    try await passcodes.authorizeChange(context)
    let reader = try await readers.take(for: .enroll(finger), context)
    let change = try await enroll(finger, on: reader.lease, context)
    reader.succeed()
    return change
  }

  /// Removes one finger, or all of them, from the set. The reader is needed only to clear its chip.
  package func unenroll(_ finger: Finger?, _ context: Context) async throws(VaultError) -> SetChange {
    let damaged = try sets.store.read { snapshot in try snapshot.damagedSets() }
    guard finger == nil, damaged > 0 else {
      let stored = try await setToChange(holding: finger)
      try await passcodes.authorizeChange(context)
      return try await unenroll(finger, from: stored, context)
    }
    // Removing all fingers also drops sets whose record is damaged.
    try await passcodes.authorizeChange(context)
    let lost = try sets.store.commit { change in try change.dropDamagedSets() }
    guard let stored = try sets.verified().first(where: { !$0.set.enrolments.isEmpty }) else {
      return SetChange(finger: nil, fingers: [], lost: lost)
    }
    var change = try await unenroll(nil, from: stored, context)
    change.lost += lost
    return change
  }

  /// The set to remove fingers from: that of the attached reader, or the only one that holds the finger.
  private func setToChange(holding finger: Finger?) async throws(VaultError) -> StoredSet {
    let holding = try sets.verified().filter { stored in
      guard let finger else { return !stored.set.enrolments.isEmpty }
      return stored.set.enrolments.contains { $0.finger == finger }
    }
    guard let first = holding.first else {
      if let finger { throw .fingerNotEnrolled(finger) }
      throw .notEnrolled
    }
    if holding.count == 1 { return first }
    let attached = try await readers.attached()
    guard let set = holding.first(where: { $0.set.isOn(attached) }) else { throw .notEnrolled }
    return set
  }

  private func unenroll(_ finger: Finger?, from stored: StoredSet, _ context: Context)
    async throws(VaultError) -> SetChange
  {
    var set = stored.set
    let removed = finger.map { finger in set.enrolments.filter { $0.finger == finger } } ?? set.enrolments
    set.enrolments.removeAll { removed.contains($0) }
    let prints = try sets.prints(of: stored)
    let isOfFprintd = set.reader.adapter.sharesFingers
    // Delete the fingers from fprintd first, or the set would take them over again.
    if isOfFprintd { try await deleteFromFprintd(removed, areAll: finger == nil, prints, set, context) }
    let lost = try sets.replace(stored, with: set, adding: [])
    for gone in removed where gone.onChip && !isOfFprintd {
      guard let print = prints.first(where: { $0.id == gone.id }) else { continue }
      await deleteFromChip(print.template, gone.finger, set, nil, context)
    }
    return SetChange(finger: finger, fingers: set.enrolledFingers, lost: lost)
  }

  private func enroll(_ finger: Finger, on lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> SetChange
  {
    let reader = lease.description
    // Take over changes by others first, so that they are not counted as part of this enrolment.
    if reader.sharesFingers { try await fprintd.takeOver(on: lease, context) }
    let stored = try sets.set(on: reader)
    let known = try stored.map { stored throws(VaultError) in try sets.prints(of: stored) } ?? []
    let (template, lift) = try await template(of: finger, lease, context)
    let print = EnrolledPrint(id: EnrolmentID(bytes: randomID()), template: template)
    do throws(VaultError) {
      if reader.features.contains(.storageList) {
        let chip = try await lease.chipList(knowing: known + [print], context)
        guard chip.present.contains(print.id) else { throw .reader(.notOnChip) }
        if !chip.unknown.isEmpty { context.events.yield(.notice(.unknownPrintsOnChip(chip.unknown.count))) }
      }
      // Wait until the finger of the last stage has left, so that it is not taken for the confirming touch.
      await lift.lifted(within: context.options.timeout)
      let others = known.filter { other in
        stored?.set.enrolments.contains { $0.id == other.id && $0.finger != finger } ?? false
      }
      try await confirm(print, finger, others: others, stored?.set, lease, context)
      return try await add(print, finger, to: stored, knowing: known, lease, context)
    } catch {
      // The store was not changed, so remove the print from the chip as well, even after a cancel.
      if reader.keepsPrints {
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

  /// Adds the confirmed print to the set, in place of the finger's earlier one.
  private func add(
    _ print: EnrolledPrint, _ finger: Finger, to stored: StoredSet?, knowing known: [EnrolledPrint],
    _ lease: ReaderLease, _ context: Context
  ) async throws(VaultError) -> SetChange {
    let reader = lease.description
    var set =
      stored?.set
      ?? EnrolmentSet(owner: sets.store.owner, reader: reader.identity, nature: reader.nature, admission: .passcode)
    set.admission = .passcode
    let replaced = set.enrolments.filter { $0.finger == finger }
    set.enrolments.removeAll { $0.finger == finger }
    set.enrolments.append(
      .init(
        id: print.id, finger: finger, onChip: reader.keepsPrints,
        templateDigest: Digest.sha256(print.template.bytes), enrolled: Int64(time(nil))))
    let lost = try sets.replace(stored, with: set, adding: [print])
    lease.checkedSet = (try? sets.set(on: reader))?.digest
    for old in replaced where old.onChip && reader.keepsPrints && !reader.sharesFingers {
      guard let print = known.first(where: { $0.id == old.id }) else { continue }
      await deleteFromChip(print.template, finger, set, lease, context)
    }
    return SetChange(finger: finger, fingers: set.enrolledFingers, lost: lost)
  }

  private func template(of finger: Finger, _ lease: ReaderLease, _ context: Context)
    async throws(VaultError) -> (Template, FingerLift)
  {
    var request = readers.request(for: .enroll(finger), on: lease, context)
    try await readers.prompt(for: request, context)
    // After this the reader itself reports when to touch it again.
    request.awaitsPrompt = false
    let stage = request
    let activity = Activity()
    let lift = lease.beginScan()
    let events = context.events
    let observer: ScanObserver = { event in
      activity.note()
      lift.note(event)
      switch event {
      case .fingerNeeded: events.yield(.touchWanted(stage))
      case .stage(let completed, let total): events.yield(.enrolmentStage(completed: completed, of: total))
      case .retry(let reason): events.yield(.retry(reason))
      default: if let shown = AuthenticationEvent(event) { events.yield(shown) }
      }
    }
    let template = try await readers.touch(context, activity: activity) {
      try await lease.ask { try await $0.enroll(as: finger, observer: observer) }
    }
    return (template, lift)
  }

  /// Asks for the confirming touch: the new print must match it, and no other finger's print may.
  private func confirm(
    _ print: EnrolledPrint, _ finger: Finger, others: [EnrolledPrint], _ set: EnrolmentSet?, _ lease: ReaderLease,
    _ context: Context
  ) async throws(VaultError) {
    let reader = lease.description
    let request = readers.request(for: .confirm(finger), on: lease, context)
    let events = context.events
    var failed = 0
    var unreadable = 0
    // Compare with the other prints first, since identification stops at the first match. fprintd does not report which
    // print matched, but itself refuses to enrol a finger that it has under another name.
    var verifies = others.isEmpty || reader.sharesFingers || !reader.features.contains(.identify)
    while true {
      try await readers.prompt(for: request, context)
      let nonce = ScanNonce(bytes: randomID())
      let lift = lease.beginScan()
      let observer: ScanObserver = { event in
        lift.note(event)
        if case .fingerNeeded = event, !request.awaitsPrompt { events.yield(.touchWanted(request)) }
        if let shown = AuthenticationEvent(event) { events.yield(shown) }
      }
      let prints = verifies ? [print] : others + [print]
      guard let scan = try await scan(for: prints, nonce, observer, lease, context) else {
        // The service does not look for the new finger alone. That a touch matches one of the person's fingers must do.
        guard verifies, !others.isEmpty else { throw .reader(.looksForAnyFinger) }
        verifies = false
        continue
      }
      guard scan.nonce == nonce else { throw .touchRefused }
      switch scan.outcome {
      case .match(print.id):
        events.yield(.matched)
        return
      case .match where reader.sharesFingers:
        events.yield(.matched)
        return
      case .match(let other): throw .fingerDuplicate(set?.enrolments.first { $0.id == other }?.finger)
      case .retry(let reason):
        events.yield(.retry(reason))
        unreadable += 1
        guard unreadable < Lockout.unreadablePerRequest else { throw .unreadableTouches }
      case .noMatch:
        failed += 1
        events.yield(.noMatch(remaining: Lockout.perRequest - failed))
        guard failed < Lockout.perRequest else { throw .authenticationFailed }
      }
      await lift.lifted(within: context.options.timeout)
    }
  }

  /// Waits for a touch. Nil if the reader would look for other fingers as well.
  private func scan(
    for prints: [EnrolledPrint], _ nonce: ScanNonce, _ observer: @escaping ScanObserver, _ lease: ReaderLease,
    _ context: Context
  ) async throws(VaultError) -> ScanAnswer? {
    do throws(VaultError) {
      return try await readers.touch(context) {
        try await lease.ask { reader in
          prints.count == 1
            ? try await reader.verify(prints[0], nonce: nonce, observer: observer)
            : try await reader.identify(prints, nonce: nonce, observer: observer)
        }
      }
    } catch {
      guard case .reader(.looksForAnyFinger) = error else { throw error }
      return nil
    }
  }

  /// Deletes fingers from fprintd. Does nothing for one that fprintd does not have.
  private func deleteFromFprintd(
    _ removed: [EnrolmentSet.Enrolment], areAll: Bool, _ prints: [EnrolledPrint], _ set: EnrolmentSet,
    _ context: Context
  ) async throws(VaultError) {
    let templates = prints.filter { print in removed.contains { $0.id == print.id } }.map(\.template)
    guard !templates.isEmpty else { return }
    try await onReader(of: set, context) { reader in
      for template in templates {
        do throws(ReaderError) {
          try await reader.delete(template)
        } catch {
          if error == .deletesOnlyAllFingers, areAll { return try await reader.clearStorage() }
          guard error == .notOnChip else { throw error }
        }
      }
    }
  }

  /// - Parameter lease: nil if the request has not claimed the reader.
  private func deleteFromChip(
    _ template: Template, _ finger: Finger, _ set: EnrolmentSet, _ lease: ReaderLease?, _ context: Context
  ) async {
    do throws(VaultError) {
      if let lease {
        try await context.outcome(of: .answer) { try await lease.ask { try await $0.delete(template) } }
      } else {
        try await onReader(of: set, context) { try await $0.delete(template) }
      }
    } catch {
      let reason: ReaderError = if case .reader(let error) = error { error } else { .absent }
      guard reason != .notOnChip else { return }
      context.events.yield(.notice(.leftOnChip(finger, reason)))
    }
  }

  /// Runs an action of the reader of a set, which needs no finger.
  private func onReader(
    of set: EnrolmentSet, _ context: Context, _ action: @escaping @Sendable (any FingerprintReader) async throws -> Void
  ) async throws(VaultError) {
    let reader = try await readers.take(for: nil, context)
    let lease = reader.lease
    guard set.isOn(lease.description) else { throw .reader(.absent) }
    try await context.outcome(of: .answer) { try await lease.ask(action) }
    reader.succeed()
  }
}
