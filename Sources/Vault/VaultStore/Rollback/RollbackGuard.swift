import Glibc
import Primitives
import Synchronization

/// Detects that an earlier copy of a whole store, or of the folder of all stores, was put back: keeps the machine's
/// record, and increments the TPM's counters that number it (docs/decisions/0095). There is one guard for each folder
/// of stores in each process that has some of them open. A lock on a file keeps two of them from writing at a time.
///
/// The record with the next number is on the disk before the counter is incremented. So at a start the record has the
/// counter's number, or the next one after a crash between the two. Any other number means an earlier copy. Then all
/// entries are dropped: each store counts as restored until its user accepts it.
package final class RollbackGuard: Sendable {
  /// What is on the disk.
  private struct Written {
    var record: MachineRecord
    let keys: MachineRecordKeys
    /// The file that has it. Another process that writes the record replaces the file.
    var file: MachineRecord.File?
  }

  private let tpm: TPM
  private let folder: String
  /// Held while the record is written and the counter incremented.
  private let turn = Mutex(())
  /// What readers use, so that they do not wait for the disk and the TPM; nil before the first use, and after a
  /// failure. Other processes change only the entries of stores that are not open in this one.
  private let written = Mutex<Written?>(nil)

  /// - Parameter folder: the folder that holds the record.
  package init(in folder: String, _ tpm: TPM) {
    self.folder = folder
    self.tpm = tpm
  }

  /// The folder of the record beside the stores. Makes it, and moves the record of earlier versions into it, which was in
  /// the folder of the stores itself. What fails is noticed when the record is used.
  package static func folder(inThatOfStores stores: String) -> String {
    let folder = stores + "/machine"
    if mkdir(folder, 0o700) == 0 || errno == EEXIST, access(folder + "/record", F_OK) != 0,
      rename(stores + "/record", folder + "/record") == 0
    {
      unlink(stores + "/record.lock")
      for changed in [folder, stores] { try? StoreDirectory(path: changed).sync() }
    }
    return folder
  }

  /// The record's entry of a store; nil if it has none.
  ///
  /// - Parameter store: the id of its database.
  func entry(of store: [UInt8]) throws(VaultError) -> MachineRecord.Entry? {
    if let known = written.withLock({ $0 }) { return known.record.entries[store] }
    return try alone { () throws(VaultError) in try last() }.record.entries[store]
  }

  /// Creates or reads the record.
  package func prepare() throws(VaultError) { _ = try alone { () throws(VaultError) in try last() } }

  /// Runs the body while no other thread and no other process reads or writes the record.
  private func alone<Value>(_ body: () throws(VaultError) -> Value) throws(VaultError) -> Value {
    try turn.withLock { _ throws(VaultError) in
      // Where nobody can write, nobody has to wait.
      let isReadOnly = access(folder, W_OK) != 0 && errno == EROFS
      let lock = isReadOnly ? nil : try FileLock.brief(folder + "/record.lock", .exclusive)
      defer { withExtendedLifetime(lock) {} }
      return try body()
    }
  }

  /// Records the state of a store. Once this has returned, an earlier state that is put back is noticed.
  func record(
    _ entry: MachineRecord.Entry, of store: [UInt8], as number: MachineRecord.Number
  ) throws(VaultError) {
    try alone { () throws(VaultError) in try move(number, recording: entry, of: store) }
  }

  private func move(
    _ number: MachineRecord.Number, recording entry: MachineRecord.Entry, of store: [UInt8]
  ) throws(VaultError) {
    var next = try last()
    next.record.entries[store] = entry
    next.record[number].value += 1
    do throws(VaultError) {
      next.file = try next.record.write(in: folder, next.keys)
      try increment(next.record[number], next.keys)
    } catch {
      // The next use compares record and counters again, as at a start.
      publish(nil)
      throw error
    }
    publish(next)
  }

  /// The record as last written. Compares it with the counters at the first use, after a failure, and where another
  /// process has written it since.
  private func last() throws(VaultError) -> Written {
    if let known = written.withLock({ $0 }), known.file == MachineRecord.File(in: folder) { return known }
    let loaded = try load()
    publish(loaded)
    return loaded
  }

  private func publish(_ new: Written?) { written.withLock { $0 = new } }

  private func increment(_ count: MachineRecord.Count, _ keys: MachineRecordKeys) throws(VaultError) {
    do throws(TPMError) {
      try tpm.increment(count.counter, authorization: keys.counters.bytes)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

/// Opens the record at the service's start.
extension RollbackGuard {
  /// How a number of the record compares with its counter.
  private enum Comparison {
    case same
    /// The record was written, but power was lost or the program ended before the counter was incremented.
    case ahead
    /// The TPM lost what it had counted in volatile memory.
    case afterPowerLoss
    /// An earlier copy of the record was put back, or another program has incremented the counter.
    case different
    /// The counter is missing, or not the one that was created.
    case gone
  }

  private func load() throws(VaultError) -> Written {
    guard let (record, keys) = try MachineRecord.read(in: folder, tpm) else { return try begin() }
    var written = Written(record: record, keys: keys, file: MachineRecord.File(in: folder))
    var isSame = true
    for number in MachineRecord.Number.allCases {
      let count = record[number]
      let value: UInt64?
      let comparison: Comparison
      do throws(TPMError) {
        value = try tpm.value(of: count.counter, authorization: keys.counters.bytes)
        comparison = try compare(number, count.value, value)
      } catch {
        throw VaultError(cause: error)
      }
      switch comparison {
      case .same: continue
      case .ahead:
        try increment(count, keys)
        continue
      case .afterPowerLoss:
        for store in written.record.entries.keys { written.record.entries[store]?.areTouchesUnknown = true }
        written.record[number].value = value ?? 0
      case .different:
        written.record.entries = [:]
        written.record[number].value = value ?? 0
      case .gone:
        written.record.entries = [:]
        written.record[number] = try makeCount(number, keys)
      }
      isSame = false
    }
    if !isSame { written.file = try written.record.write(in: folder, keys) }
    return written
  }

  private func compare(
    _ number: MachineRecord.Number, _ recorded: UInt64, _ value: UInt64?
  ) throws(TPMError) -> Comparison {
    guard let value else { return .gone }
    if value == recorded { return .same }
    guard recorded > 0 else { return .different }
    if value == recorded - 1 { return .ahead }
    guard number == .touches else { return .different }
    if value == (try tpm.valueAfterPowerLoss(of: recorded)) { return .afterPowerLoss }
    return value == (try tpm.valueAfterPowerLoss(of: recorded - 1)) ? .afterPowerLoss : .different
  }

  /// An empty record with new keys and counters.
  private func begin() throws(VaultError) -> Written {
    let keys = try MachineRecordKeys.make(in: tpm)
    let changes = try makeCount(.changes, keys)
    let touches: MachineRecord.Count
    do throws(VaultError) {
      touches = try makeCount(.touches, keys)
    } catch {
      // If the second counter finds no room in the TPM, delete the first, or each attempt would leave another one.
      try? tpm.delete(changes.counter)
      throw error
    }
    let record = MachineRecord(changes: changes, touches: touches)
    let file = try record.write(in: folder, keys)
    return Written(record: record, keys: keys, file: file)
  }

  private func makeCount(_ number: MachineRecord.Number, _ keys: MachineRecordKeys) throws(VaultError)
    -> MachineRecord.Count
  {
    do throws(TPMError) {
      let counter = try tpm.makeCounter(isOrderly: number == .touches, authorization: keys.counters.bytes)
      guard let value = try tpm.value(of: counter, authorization: keys.counters.bytes) else {
        throw TPMError.refused("a new counter of it is gone")
      }
      return MachineRecord.Count(counter: counter, value: value)
    } catch {
      throw VaultError(cause: error)
    }
  }
}
