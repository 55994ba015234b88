package import Fingerprint
package import SecureMemory

/// Everything that a client can ask of an open vault: calls over plain values and opaque handles. The vault itself, a
/// connection to one in another process, and every test of the calls have this interface.
///
/// A call that takes an ``Asking`` may ask a person. Cancelling the task cancels the call; it still returns what the
/// vault answers, because a change may have been made.
package protocol VaultService: Sendable {
  // Authentication contexts

  /// Opens an authentication context. It ends with ``closeContext(_:reason:)`` or with the connection.
  func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  )
  /// What the person answers, or does in place of an answer. Does nothing where nobody waits for it any more.
  func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async
  /// Sets the application password that is used in place of asking; nil takes it away.
  func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async
  /// Ends the context: a running call ends with the error of `reason`, every later one with `contextInvalidated`, what
  /// the context was satisfied with is forgotten, and its events finish.
  func closeContext(_ handle: ContextHandle, reason: ContextEnd) async

  // Items

  /// The items that a search means, a page at a time: at most 1,000, and fewer where their attributes are long. Asks
  /// nobody; the context counts for a search that passes over what would ask.
  func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage
  /// Releases secrets: one touch, or one passcode, for all of them, or nothing.
  ///
  /// - Throws: `itemGone` where an id or a name is no living item, `itemInvalidated` where its set or passcode is gone,
  ///   and everything that an authentication may end with. A search that finds nothing gives an empty list.
  func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem]
  /// Stores an item: over a living one with the same primary attributes only if `replacing`, over a dead one always.
  ///
  /// - Throws: `duplicateItem` where one with the same primary attributes lives and is not to be replaced.
  func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking) async throws(VaultError)
    -> Item
  /// Changes items, all of them or none. A protected one asks for what reading it asks for. Gives their number.
  func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int
  /// Removes items, all of them or none, and gives their number. Needs no finger. Ids of items that are gone already do
  /// not count.
  ///
  /// - Throws: `itemGone` where a search or names mean no item, `invalidRequest` for a search that names neither a class
  ///   nor items nor an attribute: it would empty the store.
  func delete(_ selection: ItemSelection) async throws(VaultError) -> Int
  /// Uses a private key inside the vault, after what its access control asks for.
  func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes

  // Authentication

  /// Shows that a policy or an access control holds: for the later calls of the context, and for nothing by itself.
  /// Gives the digest of the enrolment set (``Biometry/state``) at that moment.
  func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]?
  /// What can be said of fingers and passcode without asking anybody. Lists readers and opens none.
  func biometry() async throws(VaultError) -> Biometry

  // Fingers

  /// Enrols a finger, or enrols it anew, after the passcode (the recovery key where none is set).
  func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange
  /// Takes one finger, or with nil all of them, out of the set.
  func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange
  /// The items that a change would destroy.
  func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName]

  // Passcode and recovery

  /// Opens the items that are closed until the passcode, and clears a lockout, with the passcode (with the recovery key
  /// where none is set).
  func unlock(_ asking: Asking) async throws(VaultError)
  /// Closes what ``unlock(_:)``, or any other use of the passcode, has opened.
  ///
  /// - Throws: `invalidRequest` in a store that is open from the start.
  func lock() async throws(VaultError)
  /// Sets a passcode, or another one.
  func changePasscode(_ asking: Asking) async throws(VaultError)
  /// Removes the passcode and destroys its key; gives the items that died with it.
  func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName]
  /// Sets a new passcode with the recovery key, and accepts a detected restore if its id is given. Gives the items that
  /// died with forgotten fingers.
  func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName]
  /// What an earlier copy that was put back brings with it; nil where none was detected.
  func detectedRestore() async throws(VaultError) -> DetectedRestore?
  /// Accepts a restore with the passcode, or with the recovery key where none is set; gives the items that died with
  /// forgotten fingers.
  ///
  /// - Throws: `busy` where it is no longer what was shown, `recoveryKeyRequired` where only
  ///   ``recover(accepting:_:)`` accepts it.
  func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName]

  // Readers and state

  /// Changes the recorded choice between fprintd and libfprint, after the passcode; nil forgets it.
  func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError)
  /// The readers attached, and the one this store would use.
  func readers() async throws(VaultError) -> ReaderList
  /// What `whorl status` tells.
  func status() async throws(VaultError) -> VaultStatus
  /// What is wrong with the store as a whole; empty when nothing is.
  func problems() async throws(VaultError) -> [VaultError]
}

/// Makes and opens stores: a connection to `whorld`, or a vault in this process where tests want one.
package protocol VaultConnection: Sendable {
  /// Opens a store. A connection has one open store at most.
  func open(_ place: StorePlace) async throws(VaultError) -> any VaultService
  /// Makes a new store beside its place. It takes its place with ``keep(_:)``, and is removed if the connection ends
  /// before: no store is left whose recovery key nobody has seen.
  func create(_ place: StorePlace, passcode: consuming SecretBytes?) async throws(VaultError) -> StoreDraft
  /// Lets a new store take its place.
  func keep(_ draft: StoreDraft.ID) async throws(VaultError)
  /// Makes a new key file for a store whose own is missing, with the recovery key.
  func rebuildDeviceKey(at place: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError)
  /// Ends the connection, its contexts and its reader process.
  func close() async
}
