internal import CTSS

extension TPMContext {
  /// The policy of an object that opens while the registers have their current values: `PolicyPCR`, then
  /// `PolicyAuthValue`.
  ///
  /// The TPM computes it. The audit session is salted with the storage key, so that nothing between this program and the
  /// TPM can change a command or the answer.
  func policy(of registers: PlatformRegisters, under key: StorageKey) throws(TPMError) -> [UInt8] {
    let audit = try session(TPM2_SE_HMAC, with: key, TPMA_SESSION_AUDIT)
    defer { flush(audit) }
    let trial = try session(TPM2_SE_TRIAL, with: key, 0)
    defer { flush(trial) }
    try require(registers, in: trial, audit)
    try ResponseCode.check(Esys_PolicyAuthValue(esys, trial, audit, ESYS_TR_NONE, ESYS_TR_NONE), "PolicyAuthValue")
    var digest: UnsafeMutablePointer<TPM2B_DIGEST>?
    let code = Esys_PolicyGetDigest(esys, trial, audit, ESYS_TR_NONE, ESYS_TR_NONE, &digest)
    // Full: freed here.
    defer { Esys_Free(digest) }
    try ResponseCode.check(code, "PolicyGetDigest")
    guard let digest, digest.pointee.size == 32 else { throw .refused("PolicyGetDigest") }
    return withUnsafeBytes(of: &digest.pointee.buffer) { Array($0.prefix(32)) }
  }

  /// Has a policy session require that the registers have the values that they have now.
  func require(
    _ registers: PlatformRegisters, in session: ESYS_TR, _ audit: ESYS_TR = ESYS_TR_NONE
  ) throws(TPMError) {
    // An empty digest means the current values.
    var values = TPM2B_DIGEST()
    var selection = TPML_PCR_SELECTION(registers)
    try ResponseCode.check(
      Esys_PolicyPCR(esys, session, audit, ESYS_TR_NONE, ESYS_TR_NONE, &values, &selection), "PolicyPCR")
  }
}

extension TPML_PCR_SELECTION {
  fileprivate init(_ registers: PlatformRegisters) {
    self.init()
    count = 1
    withUnsafeMutableBytes(of: &pcrSelections) { raw in
      let selection = raw.assumingMemoryBound(to: TPMS_PCR_SELECTION.self)
      selection[0].hash = TPM2_ALG_SHA256
      selection[0].sizeofSelect = 3
      withUnsafeMutableBytes(of: &selection[0].pcrSelect) { bits in
        for number in registers.numbers { bits[Int(number / 8)] |= 1 << (number % 8) }
      }
    }
  }
}
