import GRDB
package import Keys
package import Primitives

extension StoreSnapshot {
  /// The public half of the passcode's pair; nil while no passcode is set.
  package func passcodePublicKey() throws -> [UInt8]? {
    try slot(.passcodePublicKey)?.parameters
  }

  /// The passcode key, unwrapped with the recovery key; nil where no passcode is set.
  package func passcodeKey(byRecovery recoveryKey: borrowing SecretBytes)
    throws -> SecretBytes?
  {
    guard let slot = try slot(.passcodeKeyByRecovery) else { return nil }
    do {
      let own = try DerivedPair.recovery.privateKey(of: recoveryKey, store.keys.databaseID)
      return try slot.unwrap(under: X25519.sharedSecret(own, with: slot.parameters), databaseID: store.keys.databaseID)
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// The recovery key's public key, to seal a new passcode key without asking for the recovery key.
  package func recoveryPublicKey(_ passcodeKey: borrowing SecretBytes)
    throws -> [UInt8]
  {
    guard let slot = try slot(.recoveryPublicKey) else {
      throw VaultError.storeDamaged("the \(Slot.Name.recoveryPublicKey.text) slot is gone")
    }
    do {
      return try slot.unwrap(under: passcodeKey, databaseID: store.keys.databaseID).withUnsafeBytes { Array($0) }
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension StoreTransaction {
  /// Stores a new passcode key in place of an older one: wrapped under the passcode, sealed for the recovery key, and
  /// with its public key for adding items.
  package func putPasscodeKey(
    _ key: borrowing SecretBytes, under locked: LockedPasscode, recoveryPublicKey: [UInt8]
  ) throws {
    let id = store.keys.databaseID
    do {
      try put(
        Slot(.passcode, wrapping: key, under: locked.key.bytes, databaseID: id, parameters: locked.parameters))
      let own = try Random.key()
      try put(
        Slot(
          .passcodeKeyByRecovery, wrapping: key, under: X25519.sharedSecret(own, with: recoveryPublicKey),
          databaseID: id, parameters: X25519.publicKey(of: own)))
      try put(
        Slot(.recoveryPublicKey, wrapping: SecretBytes(copying: recoveryPublicKey.span), under: key, databaseID: id))
      try put(
        Slot(name: .passcodePublicKey, parameters: try DerivedPair.passcode.publicKey(of: key, id), box: []))
    } catch let error as KeysError {
      throw VaultError(cause: error)
    }
    if try slot(.classKey(.passcodeSet)) == nil {
      try putClassKey(.passcodeSet)
    }
  }
}

// A wrapping that needs the passcode has two layers: the inner one is sealed under the store's keys (and the
// application password), the outer one for the passcode's key pair. A change of the passcode replaces the outer layer
// alone, so it needs no finger and no application password (docs/decisions/0018).
extension Wrapping {
  /// Adds the outer layer, sealed for `publicKey`. The key is agreed between it and a pair made for this one layer (RFC
  /// 7748); HKDF's info binds it to the wrapping's place.
  package mutating func addPasscodeLayer(for publicKey: [UInt8], place: [UInt8]) throws(KeysError) {
    let own = try Random.key()
    let share = try X25519.publicKey(of: own)
    let key = try Self.layerKey(X25519.sharedSecret(own, with: publicKey), share, place)
    box = try AEAD.seal(SecretBytes(copying: box.span), key: key, aad: place)
    passcodeShare = share
  }

  /// The box inside the passcode's layer; throws `authenticationFailed` where the layer was sealed for another pair.
  package func openedPasscodeLayer(with privateKey: borrowing SecretBytes, place: [UInt8]) throws(KeysError) -> [UInt8]
  {
    guard let passcodeShare else { throw .authenticationFailed }
    let key = try Self.layerKey(X25519.sharedSecret(privateKey, with: passcodeShare), passcodeShare, place)
    return try AEAD.open(box, key: key, aad: place).withUnsafeBytes { Array($0) }
  }

  private static func layerKey(_ agreed: borrowing SecretBytes, _ share: [UInt8], _ place: [UInt8])
    throws(KeysError) -> SecretBytes
  {
    var info = CanonicalEncoding()
    info.append(tag: 1, "passcode layer")
    info.append(tag: 2, share)
    info.append(tag: 3, place)
    return try KDF.hkdf(key: agreed, info: info.bytes)
  }
}

extension StoreTransaction {
  /// Reseals the passcode's layer of every living item, from the old passcode key's pair to the new one's. Nothing else
  /// of the items changes: not their keys, revisions or other wrappings.
  ///
  /// Leaves a layer unchanged that the old key does not open: it was already damaged.
  package func moveItems(from old: borrowing SecretBytes, to new: borrowing SecretBytes) throws {
    let privateKey = try DerivedPair.passcode.privateKey(of: old, store.keys.databaseID)
    let publicKey = try DerivedPair.passcode.publicKey(of: new, store.keys.databaseID)
    if let key = try circlePasscodeKey(with: old) { try putCirclePasscodeKey(key, for: publicKey) }
    // Fetch the row numbers first, so that no row is written while the query runs.
    let places = try Int64.fetchAll(
      db, sql: "SELECT row FROM item WHERE dead = 0 AND access & ? != 0", arguments: [AccessControl.passcodeFlag])
    for place in places {
      guard
        let row = try ItemRow.fetchOne(
          db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE row = ?"), arguments: [place]),
        let record = store.record(of: row), let access = row.accessControl, let boxes = row.itemKey,
        var wrappings = Wrapping.decode(boxes, Requirement(access))
      else { continue }
      let aad = row.secretAAD(store.keys.databaseID, record)
      for index in wrappings.indices where wrappings[index].keys.contains(.passcode) && !wrappings[index].isClosed {
        let place = Wrapping.aad(aad, wrappings[index].keys)
        guard let inner = try? wrappings[index].openedPasscodeLayer(with: privateKey, place: place) else { continue }
        wrappings[index].box = inner
        try wrappings[index].addPasscodeLayer(for: publicKey, place: place)
      }
      try db.cachedStatement(sql: "UPDATE item SET item_key = ? WHERE row = ?").execute(
        arguments: [Wrapping.encode(wrappings).data, place])
    }
  }
}

extension AccessControl {
  /// The flag of items that need the passcode's key, as a number in the database.
  package static var passcodeFlag: Int64 { Int64(bitPattern: AccessControl(.passcode).flags.rawValue) }
}
