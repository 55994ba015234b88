package import Keys
internal import Primitives
package import SecretModel
package import Vault
package import VaultStore

/// What the stores of the service have in common.
package struct SystemVaultsConfiguration: Sendable {
  /// The folder of the stores, which belongs to this process's user alone.
  package var folder: String
  /// How long an unused store stays open.
  package var idleTime = Duration.seconds(600)
  /// The readers, which all stores share.
  package var reader: ServiceReader
  /// The name of a user's account; nil where there is none. May block.
  package var accountName: @Sendable (UInt32) -> String?
  /// The folder of a store of the user at another place than this one, which an account of another name has left.
  package var otherStore: @Sendable (UInt32, String) -> String?
  /// Throws where a program may not make such a change of its user's store. May ask the user and wait for the answer.
  package var authorizeOwner: @Sendable (Caller, OwnersChange) async throws(VaultError) -> Void
  /// Throws where a program may not change the fingers that open its user's store, or the reader that they are
  /// enrolled on. Asks nobody.
  package var authorizeFingers: @Sendable (Caller) async throws(VaultError) -> Void
  /// Throws where a program may not enrol a finger; called after ``authorizeFingers``. May ask the user and wait for
  /// the answer.
  package var authorizeEnrolment: @Sendable (Caller) async throws(VaultError) -> Void = { _ throws(VaultError) in }
  /// Throws where a program may not test the readers. May ask the user and wait for the answer.
  package var authorizeTest: @Sendable (Caller) async throws(VaultError) -> Void
  /// Finds the file that a calling program runs; nil: labels have no path.
  package var programPaths: ProgramPaths?
  /// The machine's login sessions; nil: sessions forbid nothing and close nothing.
  package var sessions: LoginSessions?
  /// The least that opens a store after the service has started.
  package var firstUnlock = FirstUnlock.login
  /// The fewest bytes of a new passcode.
  package var shortestPasscode = PasscodeRule.shortestByDefault
  /// Where the keys of the stores' device slots are kept.
  package var storage = RootStorage.keyFile
  /// The most bytes that one user may store.
  package var quota = 256 << 20
  /// The folder of the locks that the vault processes of all users share: one has the readers at a time, and two derive
  /// keys from passcodes. Nil where this process is the only one.
  package let locks: String?
  /// The queue in which all stores run scrypt on passcodes.
  let scrypt: ScryptQueue
  /// Sends a log entry of a user to the system's journal. May block.
  package var journal: @Sendable (AuditEntry, UInt32) -> Void = { JournalEntry($0, of: $1).send() }
  /// The thread that writes the logs of all stores.
  let logThread = BackgroundThread()
  /// The clock by which unlocks expire; another one in tests alone.
  package var clock = BootClock.system
  /// The lowest permitted cost of scrypt; lower in tests alone.
  package var floor = Scrypt.Floor.standard

  package init(
    folder: String, locks: String? = nil, reader: ServiceReader,
    accountName: @escaping @Sendable (UInt32) -> String?,
    authorizeOwner: @escaping @Sendable (Caller, OwnersChange) async throws(VaultError) -> Void,
    authorizeFingers: @escaping @Sendable (Caller) async throws(VaultError) -> Void,
    authorizeTest: @escaping @Sendable (Caller) async throws(VaultError) -> Void
  ) {
    self.folder = folder
    self.locks = locks
    otherStore = { StoreNames(in: folder).other(of: $0, than: $1) }
    scrypt = ScryptQueue(sharedIn: locks)
    self.reader = reader
    self.accountName = accountName
    self.authorizeOwner = authorizeOwner
    self.authorizeFingers = authorizeFingers
    self.authorizeTest = authorizeTest
  }
}
