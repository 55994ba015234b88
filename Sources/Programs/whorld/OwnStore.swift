internal import Glibc
internal import Processes
internal import VaultHost

/// The folder of the one store that the vault process of a user can reach (decision 0189).
struct OwnStore {
  /// A folder of an account that had this user id under another name, from before this process was confined; nil for
  /// none.
  private let other: String?
  private let user: UInt32
  private let stores: String
  private let name: String?
  private let place: String?
  /// The folder that this process may use. Nil if it cannot be made, or this process is not confined to one.
  private let folder: FolderIdentity?

  /// Looks the user up, and makes the folder if there is none. An empty folder is no store.
  ///
  /// - Parameter stores: the folder of all stores.
  init(of user: UInt32, in stores: String) {
    self.user = user
    self.stores = stores
    let names = StoreNames(in: stores)
    name = Account.name(of: user)
    let place = name.map { names.place(of: user, named: $0) }
    if VaultConfinement.isPossible {
      names.removeEmpty(of: user)
      if let place { mkdir(place, 0o700) }
      folder = place.flatMap { FolderIdentity(of: $0) }
    } else {
      folder = nil
    }
    self.place = place
    other = place.flatMap { names.other(of: user, than: $0) }
  }

  /// Confines this process to the folder, if the kernel can. Ends it if that fails. Call it before the second thread
  /// starts.
  ///
  /// - Parameter locks: the folder of the locks that all vault processes share.
  func confine(locks: String, _ settings: ServiceSettings) {
    let program = HelperPlaces.reader.locate() ?? HelperPlaces.reader.installed[0]
    let confinement = VaultConfinement(
      toStore: folder == nil ? nil : place, record: settings.tpm.folderOfRecord(in: stores),
      locks: locks, tpm: settings.tpm.device, reader: .init(settings.reader, program: program))
    // SQLite's temporary files. No other folder can be written to.
    if let place { setenv("SQLITE_TMPDIR", place, 1) }
    do throws(ConfinementError) {
      _ = try confinement.enter()
    } catch {
      Usage.fail("cannot be confined: \(error.words)", status: 70)
    }
  }

  /// A folder of an account that had this user id under another name; nil for none.
  ///
  /// - Parameter place: the folder of the account's own store.
  func other(than place: String) -> String? {
    // A process that is not confined goes on when the account is renamed, and can look again.
    folder == nil ? StoreNames(in: stores).other(of: user, than: place) : other
  }

  /// The account's name now; nil if the user has none.
  ///
  /// Ends this process if the account has another name than at the start, or if an administrator has removed or replaced
  /// the folder: the next process reaches the right one, and this one never can.
  func accountName() -> String? {
    let now = Account.name(of: user)
    if let folder, let place, now != name || FolderIdentity(of: place) != folder { exit(0) }
    if folder == nil, VaultConfinement.isPossible, name == nil, now != nil { exit(0) }
    return now
  }
}

/// Which folder is at a path.
private struct FolderIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// Nil if there is none.
  init?(of path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
