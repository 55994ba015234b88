// Secrets and counters in the TPM of the machine, implemented with tpm2-tss. Begin with `TPM`, whose calls are all
// that others use; `TPMContext` is one connection, and makes the commands.

package import Primitives
internal import Synchronization

/// A TPM 2.0 of this machine. Every call opens it, and blocks for some tenths of a second with a real one.
package struct TPM: Sendable, Hashable {
  package let place: TPMPlace
  /// What is sealed opens only while these registers have the values that they had then.
  package let registers: PlatformRegisters

  package init(_ place: TPMPlace, sealingTo registers: PlatformRegisters = .none) {
    self.place = place
    self.registers = registers
  }

  /// The same TPM, which seals to these registers.
  package func sealing(to registers: PlatformRegisters) -> TPM { TPM(place, sealingTo: registers) }

  /// Seals a secret of at most 128 bytes, which only this TPM can open, with the authorization value. Without a value
  /// everybody who may use the TPM can open the object.
  ///
  /// The value has at most 32 bytes. Each wrong one counts for the TPM's dictionary lockout.
  package func seal(_ secret: borrowing SecretBytes, authorization: borrowing SecretBytes) throws(TPMError)
    -> SealedObject
  {
    try seal(secret, authorization: authorization, isGuessable: true)
  }

  /// Seals a secret of at most 128 bytes, which only this TPM can open, for everybody who may use it.
  package func seal(_ secret: borrowing SecretBytes) throws(TPMError) -> SealedObject {
    try seal(secret, authorization: SecretBytes(count: 0), isGuessable: false)
  }

  private func seal(
    _ secret: borrowing SecretBytes, authorization: borrowing SecretBytes, isGuessable: Bool
  ) throws(TPMError) -> SealedObject {
    let context = try TPMContext(place)
    let key = try context.storageKey()
    defer { context.flush(key.handle) }
    return try context.seal(
      secret, authorization: authorization, to: registers, under: key, isGuessable: isGuessable)
  }

  /// Opens a sealed object.
  ///
  /// An authorization value is tried only while one more wrong value leaves the TPM unlocked: a TPM that locked itself
  /// would refuse other programs of the machine as well.
  ///
  /// - Throws: `changed` for an object of another TPM, or of this one before it was cleared; `registersChanged`;
  ///   `wrongAuthorization`; `lockedOut` if the value was not tried.
  package func unseal(_ object: SealedObject, authorization: borrowing SecretBytes) throws(TPMError) -> SecretBytes {
    // Otherwise two concurrent calls could each see room for one more wrong value, and lock the TPM together.
    try Self.turn.withLock { _ throws(TPMError) in
      let context = try TPMContext(place)
      let key = try context.storageKey()
      defer { context.flush(key.handle) }
      guard key.name == object.storageKey else { throw .changed }
      guard try context.dictionaryLockout().hasRoom else { throw .lockedOut }
      return try context.unseal(object, authorization: authorization, under: key)
    }
  }

  private static let turn = Mutex(())

  /// Opens an object that was sealed without an authorization value.
  ///
  /// - Throws: `changed` for an object of another TPM, or of this one before it was cleared; `registersChanged`.
  package func unseal(_ object: SealedObject) throws(TPMError) -> SecretBytes {
    let context = try TPMContext(place)
    let key = try context.storageKey()
    defer { context.flush(key.handle) }
    return try context.unseal(object, authorization: SecretBytes(count: 0), under: key)
  }

  /// The state of the TPM's dictionary lockout, after a check that it is the TPM that sealed the object.
  ///
  /// - Throws: `changed` for another TPM, or one that was cleared.
  package func dictionaryLockout(for object: SealedObject) throws(TPMError) -> DictionaryLockout {
    let context = try TPMContext(place)
    let key = try context.storageKey()
    defer { context.flush(key.handle) }
    guard key.name == object.storageKey else { throw .changed }
    return try context.dictionaryLockout()
  }
}

/// A counter in the TPM's non-volatile memory. It never decreases, and a new counter begins above a deleted one (TPM
/// 2.0, part 3, 31.8). Reading and moving it needs its authorization value; the TPM's owner can delete it.
package struct TPMCounter: Sendable, Hashable {
  /// The handle of its NV index.
  package let index: UInt32

  package init(index: UInt32) { self.index = index }
}

extension TPM {
  /// Makes a counter at a free index, and moves it once, so that it has a value.
  ///
  /// - Parameters:
  ///   - isOrderly: whether the TPM moves it in its working memory, which is fast and wears nothing. If the TPM then loses
  ///     its power without a shutdown, the counter jumps (``valueAfterPowerLoss(of:)``).
  ///   - authorization: at most 32 bytes of high entropy. Wrong values do not count for the dictionary lockout.
  /// - Throws: `refused` if the TPM has no room for it.
  package func makeCounter(isOrderly: Bool, authorization: borrowing SecretBytes) throws(TPMError) -> TPMCounter {
    let context = try TPMContext(place)
    let key = try context.storageKey()
    defer { context.flush(key.handle) }
    let counter = try context.makeCounter(isOrderly: isOrderly, authorization: authorization, under: key)
    try context.increment(counter, authorization: authorization)
    return counter
  }

  /// Deletes a counter, as long as the owner hierarchy has no password.
  package func delete(_ counter: TPMCounter) throws(TPMError) { try TPMContext(place).delete(counter) }

  /// The value of a counter; nil if there is none at its index, or another one.
  package func value(of counter: TPMCounter, authorization: borrowing SecretBytes) throws(TPMError) -> UInt64? {
    try TPMContext(place).value(of: counter, authorization: authorization)
  }

  /// Moves a counter by one.
  package func increment(_ counter: TPMCounter, authorization: borrowing SecretBytes) throws(TPMError) {
    try TPMContext(place).increment(counter, authorization: authorization)
  }

  /// The value of an orderly counter after a loss of power: the low bits are lost, and are all ones then.
  package func valueAfterPowerLoss(of value: UInt64) throws(TPMError) -> UInt64 {
    // TPM_PT_ORDERLY_COUNT: between 2^1 - 1 and 2^32 - 1.
    guard let lost = try TPMContext(place).properties(from: 0x11D)[0x11D], lost > 0, lost & (lost &+ 1) == 0 else {
      throw .refused("it does not report what its orderly counters lose")
    }
    return value | UInt64(lost)
  }
}
