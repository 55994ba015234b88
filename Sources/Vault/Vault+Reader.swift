import Fingerprint
import GRDB
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// Claims the reader for one request and releases it at once afterwards. One program of the store has it at a time:
  /// the next one waits here, so that no scan can be credited to the other.
  func withReader<T: ~Copyable>(
    _ context: Context, _ body: (ReaderDescription) async throws(VaultError) -> T
  ) async throws(VaultError) -> T {
    let lock = try await scanLock(context)
    let reader = try await open()
    // Typed throws and a value that cannot be copied leave no room for an asynchronous defer.
    do throws(VaultError) {
      let value = try await body(reader)
      await release()
      withExtendedLifetime(lock) {}
      return value
    } catch {
      await release()
      withExtendedLifetime(lock) {}
      throw error
    }
  }

  private func scanLock(_ context: Context) async throws(VaultError) -> FileLock {
    let deadline = ContinuousClock.now + (context.options.timeout ?? .seconds(3600))
    while true {
      if let lock = try FileLock(trying: store.directory.scanLock, .exclusive) { return lock }
      guard ContinuousClock.now < deadline else { throw .busy("another program is waiting for a finger") }
      guard !context.cancelled, !Task.isCancelled else { throw .cancelled }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  private func open() async throws(VaultError) -> ReaderDescription {
    if let opened { return opened.description }
    do {
      let wanted = try choose(from: try await reader.readers())
      let description = try await reader.open(wanted.id)
      opened = OpenedReader(description: description)
      return description
    } catch let error as VaultError {
      throw error
    } catch let error as ReaderError {
      throw .reader(error)
    } catch {
      throw .internalError("\(type(of: error))")
    }
  }

  private func release() async {
    guard !holdsReader, opened != nil else { return }
    opened = nil
    try? await reader.close()
  }

  /// The reader process ended: whatever was open is not.
  func forgetReader() {
    opened = nil
  }

  /// The reader asked for by id or name, else the first.
  func choose(from readers: [ReaderDescription]) throws(VaultError) -> ReaderDescription {
    guard let device else {
      guard let first = readers.first else { throw .reader(.absent) }
      return first
    }
    guard let wanted = readers.first(where: { $0.id == device || $0.name == device || $0.identity.driver == device })
    else { throw .reader(.absent) }
    return wanted
  }

  /// The set of the reader that is open; refuses where no finger is enrolled on it.
  func enrolled(on reader: ReaderDescription) async throws(VaultError) -> StoredSet {
    let store = store
    let set = try store.read { db, authority in try store.set(of: reader.identity, reader.nature, db, authority) }
    guard let set, !set.set.enrolments.isEmpty else { throw .notEnrolled }
    return set
  }

  /// The prints to look for, the most recently matched first, without those the chip no longer holds.
  ///
  /// Fingers that are gone from the chip are a change of the set that others have made. Seen once, it closes what is
  /// bound to the set; seen again the next time the reader is opened, the set is changed to match, and what was bound
  /// to it is dead. A list that cannot be read, or that holds none of the fingers, proves nothing and changes nothing.
  func gallery(of stored: StoredSet, on reader: ReaderDescription, readingBound: Bool, _ context: Context)
    async throws(VaultError) -> [EnrolledPrint]
  {
    let prints = try prints(of: stored)
    guard reader.features.contains(.storageList), stored.set.enrolments.contains(where: \.onChip) else { return prints }
    if opened?.chipChecked == false {
      let chip = try await chipList(knowing: prints)
      let missing = Set(prints.map(\.id)).subtracting(chip.present)
      guard missing.count < prints.count else { throw .chipListMismatch }
      if try !suspect(missing, of: stored) {
        let gone = stored.set.enrolments.filter { missing.contains($0.id) }
        var set = stored.set
        set.enrolments.removeAll { missing.contains($0.id) }
        let lost = try replace(stored, with: set, adding: nil)
        context.events.yield(.notice(.goneFromChip(gone.map(\.finger), lost: lost)))
        throw .setChanged
      }
      opened?.chipChecked = true
      opened?.missingOnChip = missing
    }
    let missing = opened?.missingOnChip ?? []
    if readingBound, !missing.isEmpty { throw .chipListMismatch }
    return prints.filter { !missing.contains($0.id) }
  }

  /// Remembers what is missing on the chip. False when exactly this was seen before: then it is certain.
  private func suspect(_ missing: Set<EnrolmentID>, of stored: StoredSet) throws(VaultError) -> Bool {
    var seen = CanonicalEncoding()
    seen.append(tag: 1, stored.digest)
    for id in missing.map(\.bytes).sorted(by: { $0.lexicographicallyPrecedes($1) }) { seen.append(tag: 2, id) }
    let suspicion = missing.isEmpty ? [] : Digest.sha256(seen.bytes)
    let known = try store.read { _, authority in authority.suspicion }
    guard known != suspicion else { return missing.isEmpty }
    try store.commit { _, authority in authority.suspicion = suspicion }
    return true
  }

  func chipList(knowing prints: [EnrolledPrint]) async throws(VaultError) -> ChipList {
    do {
      return try await reader.storedPrints(knowing: prints)
    } catch {
      throw .reader(error)
    }
  }

  /// The templates of a set, each checked against the digest its record holds.
  func prints(of stored: StoredSet) throws(VaultError) -> [EnrolledPrint] {
    let store = store
    return try store.read { db, _ in
      let key = try store.keys.derive("templates")
      let rows = try Row.fetchAll(
        db, sql: "SELECT id, template FROM enrolment WHERE reader = ? ORDER BY last_match DESC, rowid",
        arguments: [stored.index.data])
      let prints = rows.compactMap { row -> EnrolledPrint? in
        let id = EnrolmentID(bytes: row.bytes(0))
        guard let enrolment = stored.set.enrolments.first(where: { $0.id == id }),
          let bytes = try? openRecord(row.bytes(1), key: key, aad: store.templateAAD(id, stored.index)),
          Digest.sha256(bytes) == enrolment.templateDigest
        else { return nil }
        return EnrolledPrint(id: id, template: Template(bytes: bytes))
      }
      guard prints.count == stored.set.enrolments.count else {
        throw VaultError.storeDamaged("a fingerprint template does not verify")
      }
      return prints
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
