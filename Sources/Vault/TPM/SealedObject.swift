/// A secret that only the TPM which sealed it can open. Holds nothing secret itself.
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
