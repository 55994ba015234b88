// SecretModel: what a client and a vault say to each other, as plain values. Begin with `VaultService`, all requests of a
// client to an open vault; `Item`, `AccessControl` and `VaultError` are what most of them are about.

package import Primitives

/// The calls of an open vault, over plain values and opaque handles. A vault in this process and a connection to one in
/// another process have this interface, and the same tests.
///
/// A call that takes an ``Asking`` may ask a person. Cancelling the task cancels the call, which still returns the
/// vault's answer, because a change may have been made.
package protocol VaultService: Sendable {
  // Authentication contexts

  /// Opens an authentication context. It ends with ``closeContext(_:reason:)`` or with the connection.
  func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  )
  /// Sends a response of the person. Does nothing if no call waits for it any more.
  func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async
  /// Sets the application password, which is then not asked for; nil removes it.
  func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async
  /// Ends the context. A running call throws the error of `reason`, and every later one `contextInvalidated`. Its
  /// proofs are discarded, and its events finish.
  func closeContext(_ handle: ContextHandle, reason: ContextEnd) async

  // Items

  /// The items that a search finds, a page at a time: at most 1,000, and fewer if their attributes are long. Shows no
  /// prompt. The context matters to a search that skips items which need a prompt (``ItemSearch/interaction``).
  func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage
  /// A page of the items of the Secret Service with all of these attributes. Shows no prompt.
  ///
  /// - Parameter collection: the name of the only collection to search; nil for all.
  func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?) async throws(VaultError)
    -> FoundSecrets
  /// Releases the secrets of all items, for one touch or one passcode; or throws and releases none.
  ///
  /// - Throws: `itemGone` if there is no living item with an id or name, `itemInvalidated` if its set or passcode is
  ///   gone, and every error of an authentication. A search that finds nothing returns an empty array.
  func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem]
  /// Releases the secrets of the first of these items: as many as have at most `size` bytes together, but at least one.
  ///
  /// - Throws: the errors of ``secrets(_:_:)``, of these items.
  func secrets(of ids: [ItemID], upTo size: Int, _ asking: Asking) async throws(VaultError) -> [ReleasedItem]
  /// Asks for what reading these items requires, in one prompt. Releases nothing; later calls of the context reuse the
  /// proof. An application password is taken, and checked when an item is read.
  ///
  /// - Throws: the errors of ``secrets(_:_:)``, except that of a wrong application password.
  func authorize(_ ids: [ItemID], _ asking: Asking) async throws(VaultError)
  /// Stores an item. Replaces a living item with the same primary attributes only if `replacing`, and a dead one
  /// always.
  ///
  /// - Throws: `duplicateItem` if a living item has the same primary attributes and is not to be replaced.
  func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking) async throws(VaultError)
    -> Item
  /// Stores items in one transaction. A living item with the same primary attributes is not changed. Shows no prompt.
  ///
  /// - Parameter items: at most ``ItemToAdd/limit``, with secrets of at most ``ItemToAdd/sizeLimit`` together.
  /// - Returns: the items that were not stored: `duplicateItem` for an existing one, or an error of the item itself
  ///   (``VaultError/concernsNewItem``).
  /// - Throws: every other error, and then none of the items was stored.
  func add(_ items: [ItemToAdd]) async throws(VaultError) -> [RefusedItem]
  /// Changes all of the items or none, and returns their number. A protected item asks for the same as reading it does.
  func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int
  /// Removes all of the items or none, and returns their number. Needs no finger. Ignores ids of items that are gone
  /// already.
  ///
  /// - Throws: `itemGone` if a search or a name finds no item; `invalidRequest` for a search without a class, ids
  ///   and attributes, which would empty the store.
  func delete(_ selection: ItemSelection) async throws(VaultError) -> Int
  /// Seals a copy of a secret of at most 4096 bytes, to be opened without this store
  /// (``VaultConnection/openCopy(_:with:)``). Asks for the passcode only if the copy is sealed under it. The copy
  /// records its keys: only the recovery key if no passcode is set, or in a store with a TPM or a credential.
  ///
  /// - Parameter old: returned unchanged, without a prompt, if it is sealed under the current keys.
  func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ asking: Asking
  ) async throws(VaultError) -> SealedCopy
  /// Stores a private key that is generated in the vault, or imported in SSH's form. From then on it never leaves the
  /// vault: its access control gets `privateKeyUsage`. The attributes that follow from the key are set here. Shows no
  /// prompt.
  ///
  /// - Parameter item: of class `key`.
  /// - Throws: `invalidRequest` for bytes that are not a private key, `duplicateItem` for a key that is stored already.
  func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item
  /// Uses a private key inside the vault, or the seed of one-time codes, after asking for what its access control
  /// requires.
  func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes

  // Passkeys

  /// What the store has for passkeys. Counts them without reading one, and starts no reader.
  func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness
  /// Makes a passkey after what its access control requires, which also proves the person to the relying party. Replaces
  /// a discoverable passkey of the same account. The proof is used up: a later call of the context asks again.
  ///
  /// - Throws: `invalidRequest` for an algorithm, an account or an access control that no passkey can have,
  ///   `passkeysFull` where there are too many.
  func makePasskey(_ passkey: NewPasskey, _ asking: Asking) async throws(VaultError) -> (Item, SignedCeremony)
  /// Signs in with passkeys of one relying party after what their access controls require: one for each account, of which
  /// the person chooses one afterwards. The proof is used up: a later call of the context asks again.
  ///
  /// - Throws: `invalidRequest` for no passkeys, and for those of several relying parties.
  func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ asking: Asking) async throws(VaultError)
    -> [SignedCeremony]

  // Other machines

  /// The calls about the circle of the store.
  var sync: any SyncService { get }

  // Authentication

  /// Evaluates a policy or an access control. This releases nothing, but later calls of the context reuse the proof.
  /// Returns the digest of the enrolment set (``Biometry/state``) at that moment.
  func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]?
  /// The state of fingers and passcode. Shows no prompt. Lists readers; opens only fprintd's, to read its fingers.
  func biometry() async throws(VaultError) -> Biometry
  /// The sets of ``status()`` with the fingers that the store's reader has at this moment. fprintd's may have been
  /// deleted or enrolled by other programs. Unlike ``biometry()`` it leaves the store's set as it is, and with it the
  /// items that are bound to it. Shows no prompt.
  func presentSets() async throws(VaultError) -> [SetStatus]

  // Fingers

  /// Enrols a finger, or enrols it again, after the passcode (the recovery key if none is set).
  func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange
  /// Removes one finger, or with nil all of them, from the set.
  func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange
  /// The items that a change would destroy.
  func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName]

  // Passcode and recovery

  /// Opens the items that need the passcode after a start, and clears a lockout. Asks for the passcode (the recovery
  /// key where none is set).
  func unlock(_ asking: Asking) async throws(VaultError)
  /// Closes the items that ``unlock(_:)``, or any other use of the passcode, has opened.
  ///
  /// - Throws: `invalidRequest` in a store that is open from the start.
  func lock() async throws(VaultError)
  /// Sets the first passcode, or changes it.
  func changePasscode(_ asking: Asking) async throws(VaultError)
  /// Seals the keys of the store again in the machine's TPM, or under a credential of the service, and moves a store of
  /// another tier there. Asks for the passcode (the recovery key if none is set).
  ///
  /// - Parameter registers: PCRs from 0 to 15: the TPM opens the keys only while these have their current values. If
  ///   not empty, the recovery key is asked for first, since it is the only way back when they change.
  /// - Throws: `tpm` if there is none, or it cannot be used; `credential` if the settings require one that is missing;
  ///   `invalidRequest` in a private store, for registers without a TPM, and for others.
  func reseal(to registers: [UInt8], _ asking: Asking) async throws(VaultError)
  /// Chooses what opens the items after each start of the service: the passcode alone, or a login as well. Asks for the
  /// passcode.
  ///
  /// - Throws: `invalidRequest` for ``FirstUnlock/none``, and in a private store, which has no logins.
  func setFirstUnlock(_ rule: FirstUnlock, _ asking: Asking) async throws(VaultError)
  /// Removes the passcode and destroys its key. Returns the items that died with it.
  func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName]
  /// Sets a new passcode with the recovery key, and accepts a detected restore if its id is given. Returns the items
  /// that died with dropped fingers.
  func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName]
  /// Makes a new recovery key, which opens nothing before ``keepRecoveryKey(_:)``. It replaces an earlier draft of this
  /// connection.
  func draftRecoveryKey() async throws(VaultError) -> SecretBytes
  /// Makes the last draft of this connection (``draftRecoveryKey()``) the store's recovery key, in place of the
  /// previous one. Asks for the passcode (the previous recovery key where none is set).
  ///
  /// - Throws: `invalidRequest` if there is no draft.
  func keepRecoveryKey(_ asking: Asking) async throws(VaultError)
  /// The detected restore of an earlier copy; nil if there is none.
  func detectedRestore() async throws(VaultError) -> DetectedRestore?
  /// Accepts a restore with the passcode, or with the recovery key where none is set. Returns the items that died with
  /// dropped fingers.
  ///
  /// - Throws: `busy` if the store has changed since it was shown, `recoveryKeyRequired` if only
  ///   ``recover(accepting:_:)`` accepts it.
  func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName]

  // Backups

  /// Writes a backup of the store, as it is at one moment, into an empty file, and syncs that. Asks nobody: nothing in
  /// it can be read without the store's device key or the recovery key.
  ///
  /// - Parameter file: an empty file, open for writing, borrowed for the call.
  func backUp(to file: Int32) async throws(VaultError)
  /// What restoring a backup of this store would change. Shows no prompt.
  ///
  /// - Parameter file: open for reading, borrowed for the call. Its position is not used.
  /// - Throws: `fileUnreadable` for other files, and backups of other stores and users; `newerFormat`, `olderFormat`.
  func contents(ofBackup file: Int32) async throws(VaultError) -> BackupContents
  /// Replaces the items of the store by those of a backup, with the passcode or the recovery key
  /// (``BackupContents/proof``). Fingers, passcode and counts of failures stay. Returns the items that came back dead.
  ///
  /// - Throws: `busy` if store or backup have changed since the contents were shown, and what
  ///   ``contents(ofBackup:)`` throws.
  func restore(_ file: Int32, accepting id: BackupContents.ID, _ asking: Asking) async throws(VaultError) -> [ItemName]

  // Readers and state

  /// Changes the recorded choice between fprintd and libfprint, after the passcode; nil forgets it.
  func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError)
  /// The readers attached, and the one this store would use.
  func readers() async throws(VaultError) -> ReaderList
  /// The status that `whorl status` shows.
  func status() async throws(VaultError) -> VaultStatus
  /// The classes whose items can be opened now, as ``VaultStatus/openClasses``. Unlike ``status()`` it reads no items and
  /// no sets, for programs that ask at every call.
  func openClasses() async throws(VaultError) -> [Accessibility]
  /// Waits until the items of `after-first-unlock` open or close, and returns whether they can be opened now. Ends with
  /// `cancelled` when the task is cancelled.
  ///
  /// - Parameter isOpen: the state that the caller knows. If it is another one already, the call returns at once.
  func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool
  /// Returns what decides how the person can authenticate, as soon as it differs from what the caller knows. Ends with
  /// `cancelled` when the task is cancelled. Changes by other programs in a private store are not noticed.
  ///
  /// - Parameter known: what an earlier call of this connection returned; nil to be answered at once.
  func surroundings(otherThan known: Surroundings?) async throws(VaultError) -> Surroundings
  /// The problems of the store as a whole; empty when there are none.
  func problems() async throws(VaultError) -> [VaultError]
  /// The log of requests to this store.
  ///
  /// - Throws: `invalidRequest` for a private store, which has no log.
  func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry]
}

/// Creates and opens stores: a connection to `whorld`, or in tests a vault in this process.
package protocol VaultConnection: Sendable {
  /// Opens a store. A connection has one open store at most.
  func open(_ place: StorePlace) async throws(VaultError) -> any VaultService
  /// Makes a new store beside its place. ``keep(_:)`` moves it there; it is removed if the connection ends before. So
  /// every store's recovery key has been shown.
  ///
  /// - Parameter allowsGuessable: whether a passcode that can be guessed in a day is accepted
  ///   (``VaultError/guessablePasscode``), because the person insists.
  func create(
    _ place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft
  /// Moves a new store to its place.
  func keep(_ draft: StoreDraft.ID) async throws(VaultError)
  /// Makes a new device slot with the recovery key, for a store whose key file is missing, or whose TPM or credential
  /// no longer opens it.
  func rebuildDeviceKey(at place: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError)
  /// Makes a store at this place from a backup, with the recovery key of the store that was backed up. What a login would
  /// run, set or write (``LoginItem/Kind/deliversAnotherItem``) is left out, since somebody else may have chosen it.
  ///
  /// - Parameters:
  ///   - file: open for reading, borrowed for the call. Its position is not used.
  ///   - recoveryKey: an empty one is refused as malformed after everything else was checked. So a client can check a
  ///     backup before it asks for the key.
  /// - Returns: the names of the login's entries that were left out.
  /// - Throws: `storeExists` if the place is taken, `wrongRecoveryKey`, `malformedRecoveryKey`, `fileUnreadable`,
  ///   `newerFormat`, `olderFormat`.
  func makeStore(at place: StorePlace, ofBackup file: Int32, recoveryKey: consuming SecretBytes)
    async throws(VaultError) -> [ItemName]
  /// The secret of a sealed copy. Needs no store. Only a private vault does this; the service refuses.
  ///
  /// - Throws: `wrongPasscode`, `wrongRecoveryKey`, `malformedRecoveryKey`; `passcodeNotSet` for a copy that no
  ///   passcode opens; `invalidRequest` for bytes that are not a sealed copy.
  func openCopy(_ copy: SealedCopy, with opening: consuming SealedCopy.Opening) async throws(VaultError) -> SecretBytes
  /// Lends the service's reader to this program for tests: returns a socket on which `org.whorl.Reader1` is served,
  /// with libfprint's readers. Opening a reader asks polkit first. Needs no store. A private vault refuses this.
  func lendReader() async throws(VaultError) -> ReaderSocket
  /// The key that KWallet derives from a wallet's password (``WalletKey``). Needs no store. The service refuses this.
  ///
  /// - Throws: `invalidRequest` for an empty password or a salt of another length.
  func walletKey(from password: consuming SecretBytes, salt: [UInt8]) async throws(VaultError) -> SecretBytes
  /// Encrypts the data from a socket, up to its end, into a new file in age's format. Needs no store. The service
  /// refuses this, and the four calls that follow.
  ///
  /// - Parameters:
  ///   - source: a connected socket, borrowed for the call.
  ///   - target: an empty file, open for writing, borrowed for the call.
  /// - Throws: `invalidRequest` for other descriptors, and a public key that nothing can be encrypted to; `inputOutput`.
  func encryptFile(from source: Int32, to target: Int32, for recipient: EncryptedFile.Recipient)
    async throws(VaultError)
  /// The key of the contents of a file in age's format.
  ///
  /// - Parameter file: open for reading, borrowed for the call. Its position is not used.
  /// - Throws: `wrongPassphrase`, `fileUnreadable`, `inputOutput`.
  func fileKey(of file: Int32, with opening: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes
  /// Decrypts a file in age's format into a socket. Each part is verified before it is written; only after the return
  /// is the file known to be complete.
  ///
  /// - Parameters:
  ///   - file: open for reading, borrowed for the call. Its position is not used.
  ///   - key: from ``fileKey(of:with:)``.
  ///   - target: a connected socket, borrowed for the call.
  /// - Throws: `fileUnreadable`, `inputOutput`.
  func decryptFile(_ file: Int32, with key: consuming SecretBytes, to target: Int32) async throws(VaultError)
  /// Encrypts the key of a file in age's format to a public key: an ephemeral public key, and the encrypted key after it.
  ///
  /// - Throws: `invalidRequest` for a key of another length, and a public key that nothing can be encrypted to.
  func wrapFileKey(_ key: consuming SecretBytes, to recipient: AgePublicKey) async throws(VaultError) -> [UInt8]
  /// Makes a key pair for files in age's format.
  func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair
  /// Ends the connection with its contexts, its loan of a reader and its reader process.
  func close() async
}

extension VaultConnection {
  /// Makes a new store with a passcode that cannot be guessed in a day, or without one.
  package func create(_ place: StorePlace, passcode: consuming SecretBytes?) async throws(VaultError) -> StoreDraft {
    try await create(place, passcode: passcode, allowsGuessable: false)
  }
}

extension VaultService {
  /// All items that a search finds, up to its limit, from all pages. Shows no prompt.
  package func allItems(_ search: ItemSearch, _ asking: Asking = .nobody) async throws(VaultError) -> [Item] {
    var found: [Item] = []
    var next = search
    while true {
      let page = try await items(next, asking)
      found += page.items
      // The limit is for all pages together.
      next.limit = search.limit.map { $0 - found.count }
      next.after = page.next
      if next.after == nil || next.limit.map({ $0 <= 0 }) == true { return found }
    }
  }
}
