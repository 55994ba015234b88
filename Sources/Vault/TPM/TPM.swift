package import SecureMemory
internal import Synchronization

/// A TPM 2.0 of this machine. Every call opens it, and blocks for some tenths of a second with a real one.
package struct TPM: Sendable, Hashable {
  /// How a TPM is reached.
  package enum Place: Sendable, Hashable {
    /// The kernel's device, by its path: `/dev/tpmrm0`, with the kernel's resource manager.
    case device(String)
    /// The Unix socket of swtpm, a TPM in software, for tests. It protects nothing.
    case simulator(socket: String)

    package var path: String {
      switch self {
      case .device(let path): path
      case .simulator(let socket): socket
      }
    }
  }

  package let place: Place
  /// Sealed objects open only while these registers have the values that they had then.
  package let registers: PlatformRegisters

  package init(_ place: Place, sealingTo registers: PlatformRegisters = .none) {
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

/// A secret that only the TPM that sealed it can open. The object itself is not secret.
package struct SealedObject: Sendable, Hashable {
  /// The name of the storage key that it is sealed under: a digest of that key's public part.
  package let storageKey: [UInt8]
  /// The TPM's own encodings of the two parts.
  package let publicPart: [UInt8]
  package let privatePart: [UInt8]
  /// The registers that it was sealed to.
  package let registers: PlatformRegisters

  package init(
    storageKey: [UInt8], publicPart: [UInt8], privatePart: [UInt8], registers: PlatformRegisters = .none
  ) {
    self.storageKey = storageKey
    self.publicPart = publicPart
    self.privatePart = privatePart
    self.registers = registers
  }
}

/// The state of a TPM's dictionary lockout, which all users and programs of the machine share.
package struct DictionaryLockout: Sendable, Hashable {
  /// Wrong authorization values that count now.
  package let failures: UInt32
  /// The TPM locks itself at this many.
  package let limit: UInt32
  /// After this many seconds one failure is forgotten.
  package let interval: UInt32
  package let isLockedOut: Bool

  package init(failures: UInt32, limit: UInt32, interval: UInt32, isLockedOut: Bool) {
    self.failures = failures
    self.limit = limit
    self.interval = interval
    self.isLockedOut = isLockedOut
  }

  /// Whether one more wrong value would leave the TPM unlocked.
  package var hasRoom: Bool { !isLockedOut && failures + 1 < limit }
}
