package import SecureMemory

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
