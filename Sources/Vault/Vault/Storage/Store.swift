import Dispatch
import GRDB
import Glibc
import Keys
import SecureMemory
import Synchronization

/// A store opened: its folder, database and root keys, and the two ways to touch it. Confined to the vault's actor.
///
/// Every read sees database and manifest together; every change is one transaction whose number the manifest repeats
/// before the next one starts.
final class Store {
  let directory: StoreDirectory
  let database: StoreDatabase
  let keys: RootKeys
  /// The user whose items and fingers these are.
  let owner: UInt32
  let clock: BootClock
  /// The least an scrypt slot must cost; tests alone ask for less.
  let floor: Scrypt.Floor
  /// Which classes of items are open.
  let classKeys: ClassKeys
  /// Syncing the manifest after the caller has its answer failed.
  private let syncing = Syncing()
  private var lastOpened: (box: [UInt8], authority: Authority, digest: [UInt8])?

  init(
    directory: StoreDirectory, database: StoreDatabase, keys: consuming RootKeys, owner: UInt32,
    clock: BootClock, floor: Scrypt.Floor, classKeys: ClassKeys
  ) {
    self.directory = directory
    self.database = database
    self.keys = keys
    self.clock = clock
    self.floor = floor
    self.classKeys = classKeys
    self.owner = owner
  }

  /// Looks at one moment of the store.
  func read<T>(_ body: (Moment) throws -> T) throws(VaultError) -> T {
    // Shared with other readers; a writer holds it from before its commit until the manifest has caught up.
    let lock = try FileLock.brief(directory.commitLock, .shared)
    defer { withExtendedLifetime(lock) {} }
    do {
      // Not `read`, which makes the connection read-only and back at the price of two more statements.
      return try database.queue.inDatabase { db in
        var result: T?
        try db.inTransaction(.deferred) {
          result = try body(Moment(of: self, db, try authority(db).current))
          return .commit
        }
        guard let result else { throw VaultError.internalError("a look ended without a result") }
        return result
      }
    } catch {
      throw VaultError(storage: error)
    }
  }

  /// Makes one change: all of it, or none. `evenRestored` is for what must work before a restore is accepted.
  ///
  /// A manifest that cannot be written after the commit is brought along by the next one, which is refused while it
  /// still cannot; only a `charge`, which must not be put back, is not made without it. Where nothing but `items` changes
  /// the caller does not wait for the manifest to be on the disk: a power cut then leaves it one behind, as a crash
  /// between the two would, and the next commit waits before it makes its own.
  func commit<T>(
    evenRestored: Bool = false, charge: Bool = false, items: Bool = false,
    _ body: (Change) throws -> T
  ) throws(VaultError) -> T {
    let lock = try FileLock.brief(directory.commitLock, .exclusive)
    defer { withExtendedLifetime(lock) {} }
    do {
      var manifest: Manifest?
      var stored = lastOpened
      let result = try database.queue.writeWithoutTransaction { db in
        var result: T?
        try db.inTransaction(.immediate) {
          let (current, highest, lagging) = try self.authority(db)
          guard evenRestored || !current.restored else { throw VaultError.restoreDetected }
          // The manifest may be one commit behind, never two: bring it along before there is another.
          if let lagging { try lagging.write(to: directory.manifest, key: keys.manifest) }
          try settle(highest)
          let change = Change(of: self, db, current)
          result = try body(change)
          var authority = change.authority
          authority.sequence = highest + 1
          let box = try authority.sealed(keys)
          try db.cachedStatement(sql: "UPDATE store SET authority = ?").execute(arguments: [box.data])
          let digest = Digest.sha256(box)
          manifest = Manifest(of: authority, digest: digest)
          stored = (box, authority, digest)
          return .commit
        }
        return result
      }
      let written = Result { try manifest?.write(to: directory.manifest, key: keys.manifest, syncing: !items) }
      if charge { try written.get() }
      if !items, let manifest, (try? written.get()) != nil {
        syncing.done.store(manifest.sequence, ordering: .releasing)
      }
      if items, let manifest { syncSoon(manifest.sequence) }
      lastOpened = stored
      guard let result else { throw VaultError.internalError("a change ended without a result") }
      return result
    } catch {
      throw database.error(error)
    }
  }

  /// Waits for the manifest of the commit before, whichever program made it. Once syncing has failed nobody knows what
  /// the disk holds, and nothing more is stored by this program.
  private func settle(_ sequence: UInt64) throws(VaultError) {
    guard !syncing.failed.load(ordering: .acquiring) else {
      throw .inputOutput("\(directory.manifest) cannot be kept on the disk")
    }
    guard syncing.done.load(ordering: .acquiring) != sequence else { return }
    try Manifest.sync(directory.manifest)
  }

  private func syncSoon(_ sequence: UInt64) {
    DispatchQueue.global(qos: .utility).async { [syncing, manifest = directory.manifest] in
      if (try? Manifest.sync(manifest)) != nil {
        syncing.done.store(sequence, ordering: .releasing)
      } else {
        syncing.failed.store(true, ordering: .releasing)
      }
    }
  }

  /// The record in a box, with the box's digest. Most looks find the box of the look before.
  private func opened(_ box: [UInt8]) -> (Authority, digest: [UInt8])? {
    if let lastOpened, lastOpened.box == box { return (lastOpened.authority, lastOpened.digest) }
    guard let authority = Authority(box: box, keys: keys) else { return nil }
    let digest = Digest.sha256(box)
    lastOpened = (box, authority, digest)
    return (authority, digest)
  }

  /// The authenticated record as it stands, with what the manifest has to say about it: the highest number either has
  /// reached, and the manifest that a crash kept from being written.
  private func authority(_ db: Database) throws -> (current: Authority, highest: UInt64, lagging: Manifest?) {
    let box = try Row.fetchOne(db.cachedStatement(sql: "SELECT authority FROM store"))?.bytes(0) ?? []
    let manifest = try Manifest.read(from: directory.manifest, key: keys.manifest)
    guard let (known, digest) = opened(box) else {
      // A manifest alone vouches for nothing: beside a spoiled record it may be one of any day.
      var unknown = Authority()
      unknown.restored = true
      unknown.doubts = [.slots, .sets, .rows]
      unknown.lockout.assumeWorst()
      return (unknown, manifest?.sequence ?? 0, nil)
    }
    var authority = known
    guard let manifest else {
      authority.restored = true
      // Nobody knows what has been counted since this copy of the database.
      authority.lockout.assumeWorst()
      return (authority, authority.sequence, nil)
    }
    if manifest.sequence == authority.sequence, manifest.digest == digest {
      return (authority, authority.sequence, nil)
    }
    if manifest.sequence + 1 == authority.sequence {
      return (authority, authority.sequence, Manifest(of: authority, digest: digest))
    }
    authority.restored = true
    if manifest.sequence >= authority.sequence {
      // The database is the older one: its passcode and its sets count as far as they are still those of the manifest.
      if manifest.slots != authority.digest(of: .slots) { authority.doubts.insert(.slots) }
      if manifest.sets != authority.digest(of: .sets) { authority.doubts.insert(.sets) }
    }
    authority.lockout.failures = max(authority.lockout.failures, manifest.failures)
    if manifest.passcodeFailures > authority.lockout.passcode.failures {
      authority.lockout.passcode.failures = manifest.passcodeFailures
      // Of no boot: it is started, once and for all, when a passcode is first asked for.
      authority.lockout.passcode.boot = ""
    }
    return (authority, max(authority.sequence, manifest.sequence), nil)
  }
}

/// What became of the manifests that nobody waited for.
private final class Syncing: Sendable {
  let failed = Atomic(false)
  /// The number of the last commit of this program whose manifest is known to be on the disk.
  let done = Atomic<UInt64>(0)
}
