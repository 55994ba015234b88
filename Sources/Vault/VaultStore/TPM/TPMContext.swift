internal import CTSS
internal import Primitives

/// A connection to a TPM, with the storage key that objects are sealed under, for a few commands.
///
/// The storage key is the primary key of the owner hierarchy from the TCG's template, created again for each
/// connection. All sessions are salted with it, so that only the TPM that holds it can take part in them.
struct TPMContext: ~Copyable {
  private let connection: OpaquePointer
  private let memory: UnsafeMutableRawPointer
  let esys: OpaquePointer

  init(_ place: TPMPlace) throws(TPMError) {
    let start: (OpaquePointer?, UnsafeMutablePointer<Int>, UnsafePointer<CChar>) -> TSS2_RC =
      switch place {
      case .device: { Tss2_Tcti_Device_Init($0, $1, $2) }
      case .simulator: { Tss2_Tcti_Swtpm_Init($0, $1, $2) }
      }
    let configuration =
      switch place {
      case .device(let path): path
      case .simulator(let socket): "path=\(socket)"
      }
    // Called without memory it returns the size of its state.
    var size = 0
    try ResponseCode.check(start(nil, &size, configuration), "TCTI")
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let connection = OpaquePointer(memory)
    let opened = start(connection, &size, configuration)
    guard opened == 0 else {
      memory.deallocate()
      throw .absent("\(place.path) cannot be opened")
    }
    var esys: OpaquePointer?
    // Borrows the connection until Esys_Finalize.
    let code = Esys_Initialize(&esys, connection, nil)
    guard code == 0, let esys else {
      whorl_tcti_finalize(connection)
      memory.deallocate()
      throw ResponseCode(value: code).error(of: "Initialize") ?? .absent("\(place.path) cannot be used")
    }
    self.memory = memory
    self.connection = connection
    self.esys = esys
  }

  deinit {
    var context: OpaquePointer? = esys
    Esys_Finalize(&context)
    whorl_tcti_finalize(connection)
    memory.deallocate()
  }

  // MARK: The storage key

  /// Makes the storage key. Its name is a digest over its public part, which is the same until the TPM is cleared.
  func storageKey() throws(TPMError) -> StorageKey {
    var sensitive = TPM2B_SENSITIVE_CREATE()
    var template = TPM2B_PUBLIC.storageKey
    var outside = TPM2B_DATA()
    var registers = TPML_PCR_SELECTION()
    var handle: ESYS_TR = 0
    do throws(TPMError) {
      try ResponseCode.check(
        Esys_CreatePrimary(
          esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template, &outside,
          &registers, &handle, nil, nil, nil, nil), "CreatePrimary")
    } catch .wrongAuthorization {
      throw .ownerPassword
    }
    var name: UnsafeMutablePointer<TPM2B_NAME>?
    // Full: the name is freed here.
    let code = Esys_TR_GetName(esys, handle, &name)
    defer { Esys_Free(name) }
    guard code == 0, let name else {
      flush(handle)
      throw .refused("GetName")
    }
    return StorageKey(handle: handle, name: name.pointee.bytes)
  }

  /// Removes an object or a session from the TPM's memory.
  func flush(_ handle: ESYS_TR) { _ = Esys_FlushContext(esys, handle) }

  // MARK: Sessions

  /// Starts a session that encrypts the first parameter of each command (`TPMA_SESSION_DECRYPT`: the TPM decrypts it), of
  /// its answer (`TPMA_SESSION_ENCRYPT`), or of both.
  func session(_ kind: TPM2_SE, with key: StorageKey, _ encryption: TPMA_SESSION) throws(TPMError) -> ESYS_TR {
    var symmetric = TPMT_SYM_DEF()
    symmetric.algorithm = TPM2_ALG_AES
    symmetric.keyBits.aes = 128
    symmetric.mode.aes = TPM2_ALG_CFB
    var handle: ESYS_TR = 0
    try ResponseCode.check(
      Esys_StartAuthSession(
        esys, key.handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, nil, kind, &symmetric,
        TPM2_ALG_SHA256, &handle), "StartAuthSession")
    let attributes = TPMA_SESSION_CONTINUESESSION | encryption
    let code = Esys_TRSess_SetAttributes(esys, handle, attributes, 0xFF)
    guard code == 0 else {
      flush(handle)
      throw .refused("SetAttributes")
    }
    return handle
  }

  // MARK: Sealing

  /// Seals `secret` under the storage key. With an authorization value the TPM's dictionary lockout covers the object.
  func seal(
    _ secret: borrowing SecretBytes, authorization: borrowing SecretBytes, to platform: PlatformRegisters,
    under key: StorageKey, isGuessable: Bool
  ) throws(TPMError) -> SealedObject {
    let policy = try platform.isEmpty ? TPM2B_PUBLIC.policyAuthValue : policy(of: platform, under: key)
    // The session is for the encryption: the storage key itself has no authorization value.
    let session = try session(TPM2_SE_HMAC, with: key, TPMA_SESSION_ENCRYPT | TPMA_SESSION_DECRYPT)
    defer { flush(session) }
    var template = TPM2B_PUBLIC.sealed(under: policy, isGuessable: isGuessable)
    var outside = TPM2B_DATA()
    var registers = TPML_PCR_SELECTION()
    var sensitive = SecretBytes(count: MemoryLayout<TPM2B_SENSITIVE_CREATE>.size)
    var made: (privatePart: UnsafeMutablePointer<TPM2B_PRIVATE>?, publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?)
    // Full: both parts are freed here.
    defer {
      Esys_Free(made.privatePart)
      Esys_Free(made.publicPart)
    }
    let code = try sensitive.withUnsafeMutableBytes { (raw) throws(TPMError) -> TSS2_RC in
      let sensitive = raw.assumingMemoryBound(to: TPM2B_SENSITIVE_CREATE.self)
      try sensitive[0].sensitive.userAuth.take(authorization)
      try sensitive[0].sensitive.data.take(secret)
      // Borrows everything for the call.
      return Esys_Create(
        esys, key.handle, ESYS_TR_PASSWORD, session, ESYS_TR_NONE, sensitive.baseAddress, &template, &outside,
        &registers, &made.privatePart, &made.publicPart, nil, nil, nil)
    }
    try ResponseCode.check(code, "Create")
    guard let privatePart = made.privatePart, let publicPart = made.publicPart else { throw .refused("Create") }
    return SealedObject(
      storageKey: key.name, publicPart: try Marshalling.bytes(of: publicPart),
      privatePart: try Marshalling.bytes(of: privatePart), registers: platform)
  }

  /// Opens a sealed object. A wrong authorization value counts for the TPM's dictionary lockout if the object was sealed
  /// with one.
  func unseal(_ object: SealedObject, authorization: borrowing SecretBytes, under key: StorageKey)
    throws(TPMError) -> SecretBytes
  {
    guard object.storageKey == key.name else { throw .changed }
    var privatePart = try Marshalling.privatePart(object.privatePart)
    var publicPart = try Marshalling.publicPart(object.publicPart)
    var handle: ESYS_TR = 0
    try ResponseCode.check(
      Esys_Load(
        esys, key.handle, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &privatePart, &publicPart, &handle), "Load")
    defer { flush(handle) }
    try setAuthorization(of: handle, to: authorization)
    // The library keeps the value in its own memory until another one is set.
    defer { try? setAuthorization(of: handle, to: SecretBytes(count: 0)) }
    let session = try session(TPM2_SE_POLICY, with: key, TPMA_SESSION_ENCRYPT)
    defer { flush(session) }
    if !object.registers.isEmpty { try require(object.registers, in: session) }
    try ResponseCode.check(
      Esys_PolicyAuthValue(esys, session, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE), "PolicyAuthValue")
    var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
    let code = Esys_Unseal(esys, handle, session, ESYS_TR_NONE, ESYS_TR_NONE, &data)
    try ResponseCode.check(code, "Unseal")
    guard let data else { throw .refused("Unseal") }
    // Full: wiped and freed here.
    defer {
      UnsafeMutableRawBufferPointer(start: data, count: MemoryLayout<TPM2B_SENSITIVE_DATA>.size).wipe()
      Esys_Free(data)
    }
    let secret = data.pointee.secret
    try overwriteAnswers()
    return secret
  }

  func setAuthorization(of handle: ESYS_TR, to value: borrowing SecretBytes) throws(TPMError) {
    var memory = SecretBytes(count: MemoryLayout<TPM2B_AUTH>.size)
    let code = try memory.withUnsafeMutableBytes { (raw) throws(TPMError) -> TSS2_RC in
      let authorization = raw.assumingMemoryBound(to: TPM2B_AUTH.self)
      try authorization[0].take(value)
      // Copies the value.
      return Esys_TR_SetAuth(esys, handle, authorization.baseAddress)
    }
    try ResponseCode.check(code, "SetAuth")
  }

  /// The library decrypts answers in the memory for all answers and does not wipe it. A long answer overwrites it.
  private func overwriteAnswers() throws(TPMError) { _ = try properties(from: 0x100) }

  // MARK: Properties

  func dictionaryLockout() throws(TPMError) -> DictionaryLockout {
    // TPM_PT_PERMANENT, TPM_PT_LOCKOUT_COUNTER, TPM_PT_MAX_AUTH_FAIL, TPM_PT_LOCKOUT_INTERVAL
    let properties = try properties(from: 0x200)
    guard let state = properties[0x200], let failures = properties[0x20E], let limit = properties[0x20F],
      let interval = properties[0x210]
    else { throw .refused("it does not report its dictionary lockout") }
    return DictionaryLockout(
      failures: failures, limit: limit, interval: interval, isLockedOut: state & (1 << 9) != 0)
  }

  /// The numbers of the TPM from a property on, as many as one answer holds.
  func properties(from first: UInt32) throws(TPMError) -> [UInt32: UInt32] {
    // TPM2_CAP_TPM_PROPERTIES
    let capability: TPM2_CAP = 6
    var more: TPMI_YES_NO = 0
    var answer: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
    let code = Esys_GetCapability(
      esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, capability, first, 127, &more, &answer)
    try ResponseCode.check(code, "GetCapability")
    // Full: freed here.
    defer { Esys_Free(answer) }
    guard let answer else { throw .refused("GetCapability") }
    var properties: [UInt32: UInt32] = [:]
    withUnsafeBytes(of: &answer.pointee.data.tpmProperties.tpmProperty) { raw in
      let all = raw.assumingMemoryBound(to: TPMS_TAGGED_PROPERTY.self)
      for property in all.prefix(Int(answer.pointee.data.tpmProperties.count)) {
        properties[property.property] = property.value
      }
    }
    return properties
  }
}

/// The storage key of one connection.
struct StorageKey {
  let handle: ESYS_TR
  let name: [UInt8]
}

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
