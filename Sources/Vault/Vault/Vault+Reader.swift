import Executors
package import Fingerprint
import GRDB
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// Claims the reader for one request. One request at a time has it, of all programs and stores of the user: the next
  /// one waits here, so that no scan can be credited to the other. `body` releases what it releases while the reader is
  /// still open: the answer does not wait for the reader to be closed.
  func withReader<T: Sendable>(
    _ context: Context, unlessLockedOut: Bool = false, _ body: (ReaderDescription) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    await closing?.value
    var claim = ReaderClaim(store: try await lock(store.directory.scanLock, context))
    if unlessLockedOut {
      // Only now is it certain how the others' scans have ended.
      let lockedOut = try store.read { moment in moment.authority.lockout.lockedOut }
      guard !lockedOut else { throw .biometryLockout }
    }
    do throws(VaultError) {
      let wanted = try await wantedReader(context)
      if let path = try readerLocks.path(of: wanted) { claim.reader = try await lock(path, context) }
      try await fingerOff(claim.noted)
      let reader = try await open(wanted, context)
      let value = try await body(reader)
      release(claim)
      return value
    } catch {
      release(claim)
      throw error
    }
  }

  private func lock(_ path: String, _ context: Context) async throws(VaultError) -> FileLock {
    let deadline = ContinuousClock.now + (context.options.timeout ?? .seconds(3600))
    while true {
      if let lock = try FileLock.trying(path, .exclusive) { return lock }
      guard ContinuousClock.now < deadline else { throw .busy("another program is waiting for a finger") }
      guard !context.cancelled, !Task.isCancelled else { throw .cancelled }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  /// A finger that still rests on the sensor from the request before, perhaps another program's, must not answer this
  /// one: the last holder left the time of its scan's end where it did not see the finger lifted.
  private func fingerOff(_ lock: FileLock) async throws(VaultError) {
    guard let end = lock.note else { return }
    let now = store.clock.now()
    guard end <= now, now - end < FingerLift.assumedAfter else { return }
    try? await Task.sleep(for: .nanoseconds(FingerLift.assumedAfter - (now - end)))
  }

  private func wantedReader(_ context: Context) async throws(VaultError) -> ReaderDescription {
    if let opened { return opened.description }
    return try choose(from: try await answer(context) { reader in try await reader.readers() })
  }

  private func open(_ wanted: ReaderDescription, _ context: Context) async throws(VaultError) -> ReaderDescription {
    if let opened { return opened.description }
    let description = try await answer(context) { reader in try await reader.open(wanted.id) }
    opened = OpenedReader(description: description)
    return description
  }

  private func release(_ claim: ReaderClaim) {
    // Without a scan the time that the last holder left still says all there is to say.
    if let lastLift { claim.noted.leave(lastLift.isLifted ? 0 : store.clock.now()) }
    lastLift = nil
    guard !holdsReader, opened != nil else { return }
    opened = nil
    closing = Task(executorPreference: BackgroundThread.shared) { [reader] in
      try? await reader.close()
      withExtendedLifetime(claim) {}
    }
  }

  /// What the reader answers to one question, in the vault's words where it fails. A cancel, a chosen passcode and the
  /// timeout end the waiting.
  func answer<T: Sendable>(
    _ context: Context, activity: Activity? = nil,
    _ question: @escaping @Sendable (any FingerprintReader) async throws -> T
  ) async throws(VaultError) -> T {
    switch await ended(
      Task(executorPreference: BackgroundThread.shared) { [reader] in try await question(reader) }, context, activity)
    {
    case .success(let value): return value
    case .failure(let error): throw failure(error, context)
    }
  }

  /// What a failure of the reader means to the request.
  func failure(_ error: any Error, _ context: Context) -> VaultError {
    switch error as? ReaderError {
    case .cancelled where context.cancelled || Task.isCancelled || context.fallbackChosen: return .cancelled
    case .cancelled: return context.timedOut ? .timedOut : .cancelled
    case .duplicate: return .fingerDuplicate(nil)
    // What others have changed is taken over, and told, at the next request.
    case .printsChanged: return .setChanged
    case .processDied(let how):
      // Whatever was open is not any more.
      opened = nil
      return .reader(.processDied(how))
    case .some(let error): return .reader(error)
    case .none: return error as? VaultError ?? .internalError("\(type(of: error))")
    }
  }

  /// The reader asked for by id or name, else the first that has fingers in this store.
  ///
  /// A reader that both fprintd and libfprint drive is two readers. Where nobody has named one, it is one of the kind
  /// that this store has recorded.
  package func choose(from readers: [ReaderDescription]) throws(VaultError) -> ReaderDescription {
    if let device {
      guard let named = readers.first(where: { $0.id == device || $0.name == device }) else { throw .reader(.absent) }
      return named
    }
    let (sets, adapter) = try store.read { moment in (try moment.enrolledSets().map(\.set), moment.authority.adapter) }
    let recorded = followsRecordedAdapter ? adapter : nil
    let eligible = readers.filter { recorded == nil || $0.identity.adapter == recorded }
    let enrolled = eligible.first { reader in
      sets.contains { $0.reader == reader.identity && $0.nature == reader.nature }
    }
    guard let chosen = enrolled ?? eligible.first else { throw .reader(.absent) }
    return chosen
  }

  /// The reader that is attached now, without opening it.
  func attachedReader() async throws(VaultError) -> ReaderDescription {
    if let opened { return opened.description }
    do {
      return try choose(from: try await reader.readers())
    } catch let error as VaultError {
      throw error
    } catch {
      throw .reader(error as? ReaderError ?? .absent)
    }
  }

  /// The readers attached, and the one that this store would use.
  package func readers() async throws(VaultError) -> ReaderList {
    let attached: [ReaderDescription]
    do {
      attached = try await reader.readers()
    } catch {
      return ReaderList(readers: [], chosen: nil, problem: .reader(error))
    }
    do throws(VaultError) {
      return ReaderList(readers: attached, chosen: try choose(from: attached), problem: nil)
    } catch {
      return ReaderList(readers: attached, chosen: nil, problem: error)
    }
  }

  /// The set of the reader that is open; refuses where no finger is enrolled on it, or none that counts.
  func enrolled(on reader: ReaderDescription) throws(VaultError) -> StoredSet {
    let store = store
    let set = try store.read { moment in try moment.set(of: reader.identity, reader.nature) }
    guard let set, !set.set.enrolments.isEmpty else { throw .notEnrolled }
    try set.set.requireCounts()
    return set
  }

  /// The sets of this user that verify.
  func verifiedSets() throws(VaultError) -> [StoredSet] {
    let store = store
    return try store.read { moment in try moment.sets() }
  }

  /// The prints to look for, the most recently matched first, without those the chip no longer holds.
  ///
  /// A finger that is gone from the chip's own list was removed elsewhere, or the reader misreports. Either way what is
  /// bound to the set is closed at once, and opens again when the list holds every print. Nothing is destroyed by what a
  /// reader says: that takes the passcode, with which the finger is taken out of the set (`unenroll`).
  func gallery(of stored: StoredSet, on reader: ReaderDescription, readingBound: Bool, _ context: Context)
    async throws(VaultError) -> [EnrolledPrint]
  {
    let prints = try prints(of: stored)
    guard !prints.isEmpty else { throw .storeDamaged("no fingerprint template verifies") }
    guard reader.features.contains(.storageList), stored.set.enrolments.contains(where: \.onChip),
      opened?.chipChecked == false
    else { return prints }
    let chip = try await chipList(knowing: prints, context)
    let present = prints.filter { chip.present.contains($0.id) }
    guard present.count < prints.count else {
      opened?.chipChecked = true
      return prints
    }
    let gone = stored.set.enrolments.filter { !chip.present.contains($0.id) }.map(\.finger)
    guard !readingBound, !present.isEmpty else { throw .printsGone(gone) }
    context.events.yield(.notice(.goneFromChip(gone)))
    return present
  }

  func chipList(knowing prints: [EnrolledPrint], _ context: Context) async throws(VaultError) -> ChipList {
    try await answer(context) { reader in try await reader.storedPrints(knowing: prints) }
  }

  /// The templates of a set, each checked against the digest its record holds; one that does not verify is left out,
  /// and its finger has to be enrolled again.
  func prints(of stored: StoredSet) throws(VaultError) -> [EnrolledPrint] {
    let store = store
    return try store.read { moment in
      let key = try store.keys.derive("templates")
      let rows = try Row.fetchAll(
        moment.db, sql: "SELECT id, template FROM enrolment WHERE reader = ? ORDER BY last_match DESC, rowid",
        arguments: [stored.index.data])
      return rows.compactMap { row -> EnrolledPrint? in
        let id = EnrolmentID(bytes: row.bytes(0))
        guard let enrolment = stored.set.enrolments.first(where: { $0.id == id }),
          let bytes = try? openRecord(row.bytes(1), key: key, aad: store.templateAAD(id, stored.index)),
          Digest.sha256(bytes) == enrolment.templateDigest
        else { return nil }
        return EnrolledPrint(id: id, template: Template(bytes: bytes))
      }
    }
  }
}

extension Store {
  func templateAAD(_ id: EnrolmentID, _ reader: [UInt8]) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, keys.databaseID)
    aad.append(tag: 3, "enrolment.template")
    aad.append(tag: 4, UInt64(owner))
    aad.append(tag: 5, id.bytes)
    aad.append(tag: 6, reader)
    return aad.bytes
  }
}
