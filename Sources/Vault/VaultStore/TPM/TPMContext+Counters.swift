internal import CTSS
internal import Primitives

extension TPMContext {
  /// Within the range of NV indices that the TCG leaves to the TPM's owner ("Registry of Reserved TPM 2.0 Handles and
  /// Localities").
  private static let indices: Range<UInt32> = 0x0180_5740..<0x0180_5780

  /// Makes a counter at the first free index. Other programs' indexes are not changed.
  func makeCounter(
    isOrderly: Bool, authorization: borrowing SecretBytes, under key: StorageKey
  ) throws(TPMError) -> TPMCounter {
    for index in Self.indices {
      if try defineCounter(at: index, isOrderly, authorization, under: key) { return TPMCounter(index: index) }
    }
    throw .refused("the indices for its counters are in use")
  }

  /// Whether the index was free, and is a counter now.
  private func defineCounter(
    at index: UInt32, _ isOrderly: Bool, _ authorization: borrowing SecretBytes, under key: StorageKey
  ) throws(TPMError) -> Bool {
    // The session is for the encryption of the authorization value: the owner hierarchy has none.
    let session = try session(TPM2_SE_HMAC, with: key, TPMA_SESSION_DECRYPT)
    defer { flush(session) }
    var area = TPM2B_NV_PUBLIC.counter(at: index, isOrderly: isOrderly)
    var handle: ESYS_TR = 0
    var value = SecretBytes(count: MemoryLayout<TPM2B_AUTH>.size)
    let code = try value.withUnsafeMutableBytes { (raw) throws(TPMError) -> TSS2_RC in
      let value = raw.assumingMemoryBound(to: TPM2B_AUTH.self)
      try value[0].take(authorization)
      // Borrows everything for the call.
      return Esys_NV_DefineSpace(
        esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, session, ESYS_TR_NONE, value.baseAddress, &area, &handle)
    }
    switch ResponseCode(value: code).ofTPM {
    // TPM_RC_NV_DEFINED
    case 0x14C: return false
    // TPM_RC_NV_SPACE
    case 0x14B: throw .refused("it has no room for a counter")
    default: break
    }
    do throws(TPMError) {
      try ResponseCode.check(code, "NV_DefineSpace")
    } catch .wrongAuthorization {
      throw .ownerPassword
    }
    try setAuthorization(of: handle, to: SecretBytes(count: 0))
    return true
  }

  /// The value of a counter; nil if there is none at its index, or not the one that was made there.
  func value(of counter: TPMCounter, authorization: borrowing SecretBytes) throws(TPMError) -> UInt64? {
    guard let handle = try handle(of: counter) else { return nil }
    try setAuthorization(of: handle, to: authorization)
    defer { try? setAuthorization(of: handle, to: SecretBytes(count: 0)) }
    let session = try authorizingSession()
    defer { flush(session) }
    var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
    let code = Esys_NV_Read(esys, handle, handle, session, ESYS_TR_NONE, ESYS_TR_NONE, 8, 0, &data)
    // Full: freed here.
    defer { Esys_Free(data) }
    switch ResponseCode(value: code).ofTPM {
    // TPM_RC_BAD_AUTH, TPM_RC_NV_AUTHORIZATION, TPM_RC_NV_UNINITIALIZED, TPM_RC_NV_RANGE
    case 0x0A2, 0x149, 0x14A, 0x146: return nil
    default: try ResponseCode.check(code, "NV_Read")
    }
    guard let data, data.pointee.size == 8 else { throw .refused("NV_Read") }
    return withUnsafeBytes(of: &data.pointee.buffer) { bytes in
      bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
  }

  /// Moves a counter by one.
  func increment(_ counter: TPMCounter, authorization: borrowing SecretBytes) throws(TPMError) {
    guard let handle = try handle(of: counter) else { throw .refused("a counter of it is gone") }
    try setAuthorization(of: handle, to: authorization)
    defer { try? setAuthorization(of: handle, to: SecretBytes(count: 0)) }
    let session = try authorizingSession()
    defer { flush(session) }
    try ResponseCode.check(Esys_NV_Increment(esys, handle, handle, session, ESYS_TR_NONE, ESYS_TR_NONE), "NV_Increment")
  }

  /// Deletes a counter. No error if it is already gone.
  func delete(_ counter: TPMCounter) throws(TPMError) {
    guard let handle = try handle(of: counter) else { return }
    try ResponseCode.check(
      Esys_NV_UndefineSpace(esys, ESYS_TR_RH_OWNER, handle, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE),
      "NV_UndefineSpace")
  }

  /// The library's handle for the index of a counter; nil if there is no such index. It is freed with the connection.
  private func handle(of counter: TPMCounter) throws(TPMError) -> ESYS_TR? {
    var handle: ESYS_TR = 0
    let code = Esys_TR_FromTPMPublic(esys, counter.index, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &handle)
    // TPM_RC_HANDLE
    if ResponseCode(value: code).ofTPM == 0x08B { return nil }
    try ResponseCode.check(code, "NV_ReadPublic")
    return handle
  }

  /// A session that proves authorization values without sending them, and by which the TPM proves its answers with the
  /// same value. It needs no salt: the values have 256 random bits.
  private func authorizingSession() throws(TPMError) -> ESYS_TR {
    var symmetric = TPMT_SYM_DEF()
    symmetric.algorithm = TPM2_ALG_NULL
    var handle: ESYS_TR = 0
    try ResponseCode.check(
      Esys_StartAuthSession(
        esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, nil, TPM2_SE_HMAC, &symmetric,
        TPM2_ALG_SHA256, &handle), "StartAuthSession")
    let code = Esys_TRSess_SetAttributes(esys, handle, TPMA_SESSION_CONTINUESESSION, 0xFF)
    guard code == 0 else {
      flush(handle)
      throw .refused("SetAttributes")
    }
    return handle
  }
}

extension TPM2B_NV_PUBLIC {
  /// A counter that can be read and moved with its authorization value alone.
  fileprivate static func counter(at index: UInt32, isOrderly: Bool) -> TPM2B_NV_PUBLIC {
    var area = TPMS_NV_PUBLIC()
    area.nvIndex = index
    area.nameAlg = TPM2_ALG_SHA256
    area.attributes =
      TPMA_NV(TPM2_NT_COUNTER) << 4 | TPMA_NV_AUTHREAD | TPMA_NV_AUTHWRITE | TPMA_NV_NO_DA
      | (isOrderly ? TPMA_NV_ORDERLY : 0)
    area.dataSize = 8
    var sized = TPM2B_NV_PUBLIC()
    sized.nvPublic = area
    return sized
  }
}
