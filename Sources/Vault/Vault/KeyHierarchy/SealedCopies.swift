package import Keys
import Presence
package import Primitives
package import SecretModel
import VaultItems
package import VaultStore

// A sealed copy contains the slots that lead from the recovery key or the passcode to its secret: the root key's slot
// for the recovery key, and, if the passcode opens it as well, the slot of the passcode key. Passcodes can be tried on
// that slot without being counted. So such a copy is made only for somebody who has just given the passcode
// (docs/decisions/0066).

/// Seals copies of secrets, to be opened without this store.
struct CopySealer {
  let presence: OwnerPresence

  private var store: Store { presence.passcodes.store }

  /// Seals a copy. Asks for the passcode only if the copy is sealed under it.
  ///
  /// - Parameter old: an earlier copy. If it is sealed under the current keys, it is returned unchanged, and nobody is
  ///   asked.
  /// - Throws: `restoreDetected` where an earlier copy of the store was put back, whose passcode may be an older one.
  func seal(
    _ secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ request: Request
  ) async throws(VaultError) -> SealedCopy {
    guard secret.count <= SealedCopy.secretLimit else { throw .secretTooLong(limit: SealedCopy.secretLimit) }
    let secret = SharedSecret(secret)
    let head = try store.read { snapshot in try SealedCopyHead(of: snapshot, under: keys) }
    if let old, old.keys == head.keys, old.head == head.bytes { return old }
    guard head.passcode != nil else { return try seal(secret, under: keys, after: nil) }
    let turn = try await presence.contexts.turn(of: request)
    return try seal(secret, under: keys, after: try await presence.passcodes.prove(turn.context))
  }

  /// - Parameter passcode: the passcode that was just given; nil: a copy that would have the passcode's slot is refused.
  private func seal(
    _ secret: SharedSecret, under keys: SealedCopy.Keys, after passcode: ProvenPasscode?
  ) throws(VaultError) -> SealedCopy {
    try store.read { snapshot in
      let head = try SealedCopyHead(of: snapshot, under: keys)
      if head.passcode != nil {
        guard let passcode else { throw VaultError.interactionNotAllowed }
        try passcode.requireCurrent(snapshot)
      }
      do {
        var boxes = CanonicalEncoding()
        boxes.append(
          tag: 1, try AEAD.seal(secret.bytes, key: head.recoveryKey(snapshot.store.keys.root), aad: head.bytes))
        if head.passcode != nil, let publicKey = try snapshot.passcodePublicKey() {
          let own = try Random.key()
          let share = try X25519.publicKey(of: own)
          let key = try head.passcodeKey(X25519.sharedSecret(own, with: publicKey), share)
          boxes.append(tag: 2, share)
          boxes.append(tag: 3, try AEAD.seal(secret.bytes, key: key, aad: head.bytes))
        }
        return SealedCopy(under: head.keys, head: head.bytes, boxes: boxes.bytes)
      } catch let error as KeysError {
        throw VaultError(cause: error)
      }
    }
  }
}

extension SealedCopy {
  /// The longest secret that is sealed, in bytes.
  fileprivate static let secretLimit = 4096

  /// Opens the copy with the passcode or the recovery key of the time when it was sealed. Needs no store, so tries are
  /// not counted.
  ///
  /// - Throws: `wrongPasscode`, `wrongRecoveryKey`, `malformedRecoveryKey`; `passcodeNotSet` for a copy that no
  ///   passcode opens; `invalidRequest` for bytes that are no sealed copy; `newerFormat` or `olderFormat` for a copy of
  ///   another version.
  package func open(
    with opening: consuming Opening, user: UInt32, scrypt: ScryptQueue = ScryptQueue(), floor: Scrypt.Floor = .standard
  ) async throws(VaultError) -> SecretBytes {
    let head = try SealedCopyHead(self.head)
    let boxes = try SealedCopyBoxes(self.boxes)
    switch consume opening {
    case .recoveryKey(let text):
      let root = try head.recovery.unwrap(
        under: RecoveryKey.slotKey(of: text), databaseID: head.databaseID, otherwise: .wrongRecoveryKey)
      return try boxes.opened { () throws(KeysError) in
        try AEAD.open(boxes.recovery, key: head.recoveryKey(root), aad: head.bytes)
      }
    case .passcode(let passcode):
      guard let slot = head.passcode, let share = boxes.share, let box = boxes.passcode else {
        throw .passcodeNotSet
      }
      let turn = try await scrypt.turn(for: user)
      let stretched = try await turn.stretch(SharedSecret(passcode), .init(encoded: slot.parameters), floor)
      let key = try slot.unwrap(
        under: stretched.bytes, databaseID: head.databaseID, otherwise: .wrongPasscode)
      return try boxes.opened { () throws(KeysError) in
        let own = try DerivedPair.passcode.privateKey(of: key, head.databaseID)
        return try AEAD.open(box, key: head.passcodeKey(X25519.sharedSecret(own, with: share), share), aad: head.bytes)
      }
    }
  }
}

/// The wrapped keys of a sealed copy. Both boxes are bound to all of it.
private struct SealedCopyHead {
  let databaseID: [UInt8]
  let recovery: Slot
  let passcode: Slot?
  let bytes: [UInt8]

  /// What a copy with this head is sealed under.
  var keys: SealedCopy.Keys { passcode == nil ? .recoveryKey : .passcodeAndRecoveryKey }

  /// The head of a new copy.
  init(of snapshot: StoreSnapshot, under keys: SealedCopy.Keys) throws {
    guard !snapshot.authority.restored else { throw VaultError.restoreDetected }
    guard let recovery = try snapshot.slot(.recovery) else { throw VaultError.storeDamaged("it has no recovery slot") }
    // A copy is opened without the TPM, which limits the tries of a passcode, and without the credential. So if the
    // store uses either, its copies open with the recovery key only.
    let hasPasscode = keys == .passcodeAndRecoveryKey && snapshot.store.seal.isKeyFile
    self.init(
      databaseID: snapshot.store.keys.databaseID, recovery: recovery,
      passcode: hasPasscode ? try snapshot.slot(.passcode) : nil)
  }

  private init(databaseID: [UInt8], recovery: Slot, passcode: Slot?) {
    self.databaseID = databaseID
    self.recovery = recovery
    self.passcode = passcode
    var head = CanonicalEncoding()
    head.append(tag: 1, UInt64(StoreDatabase.format))
    head.append(tag: 2, databaseID)
    head.append(tag: 3, recovery.box)
    head.append(tag: 4, optional: passcode?.parameters)
    head.append(tag: 5, optional: passcode?.box)
    bytes = head.bytes
  }

  init(_ bytes: [UInt8]) throws(VaultError) {
    do {
      var head = CanonicalDecoder(bytes)
      let format = try head.number(1)
      guard format == StoreDatabase.format else {
        throw format > StoreDatabase.format
          ? VaultError.newerFormat(Int(clamping: format)) : .olderFormat(Int(clamping: format))
      }
      databaseID = try head.bytes(2)
      recovery = Slot(name: .recovery, parameters: [], box: try head.bytes(3))
      let parameters = try head.optionalBytes(4)
      let box = try head.optionalBytes(5)
      passcode = parameters.flatMap { parameters in
        box.map { Slot(name: .passcode, parameters: parameters, box: $0) }
      }
      guard head.isAtEnd else { throw VaultError.noSealedCopy }
    } catch let error as VaultError {
      throw error
    } catch {
      throw .noSealedCopy
    }
    self.bytes = bytes
  }

  /// The key of the recovery box, derived from the root key, which the recovery key opens.
  func recoveryKey(_ root: borrowing SecretBytes) throws(KeysError) -> SecretBytes {
    try KDF.hkdf(key: root, salt: databaseID, info: Array("whorl root sealed copy".utf8))
  }

  /// The key of the passcode box, derived from the secret agreed with the passcode's key pair.
  func passcodeKey(_ agreed: borrowing SecretBytes, _ share: [UInt8]) throws(KeysError) -> SecretBytes {
    var info = CanonicalEncoding()
    info.append(tag: 1, "sealed copy")
    info.append(tag: 2, share)
    return try KDF.hkdf(key: agreed, salt: databaseID, info: info.bytes)
  }
}

/// The sealed secret, once for each way to open it.
private struct SealedCopyBoxes {
  let recovery: [UInt8]
  /// The public key of the pair that was made for this copy alone.
  let share: [UInt8]?
  let passcode: [UInt8]?

  init(_ bytes: [UInt8]) throws(VaultError) {
    do {
      var boxes = CanonicalDecoder(bytes)
      recovery = try boxes.bytes(1)
      share = boxes.isAtEnd ? nil : try boxes.bytes(2)
      passcode = boxes.isAtEnd ? nil : try boxes.bytes(3)
      guard boxes.isAtEnd else { throw VaultError.noSealedCopy }
    } catch {
      throw .noSealedCopy
    }
  }

  /// Opens a box with a key that is known to be right, so that a failure means damage.
  func opened(_ open: () throws(KeysError) -> SecretBytes) throws(VaultError) -> SecretBytes {
    do {
      return try open()
    } catch .authenticationFailed {
      throw .noSealedCopy
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension VaultError {
  fileprivate static let noSealedCopy = invalidRequest("this is no sealed copy, or it was damaged")
}

extension WalletKey {
  /// The key that KWallet derives from a wallet's password and the salt beside the wallet. Needs no store.
  ///
  /// - Throws: `invalidRequest` for an empty password or a salt of another length.
  package static func derive(
    from password: borrowing SecretBytes, salt: [UInt8]
  ) throws(VaultError) -> SecretBytes {
    guard salt.count == saltCount else {
      throw .invalidRequest("the salt of a wallet has \(saltCount) bytes")
    }
    guard !password.isEmpty else { throw .invalidRequest("a wallet's password is not empty") }
    do {
      return try PBKDF2.sha512(
        password: password, salt: salt, rounds: rounds, count: byteCount)
    } catch {
      throw VaultError(cause: error)
    }
  }
}
