// The structures of the TPM's commands: buffers, and templates of objects.

internal import CTSS
internal import Glibc
internal import Primitives

// The library's types for bytes hold them in arrays of fixed size, which Swift sees as tuples.
extension TPM2B_AUTH {
  mutating func take(_ secret: borrowing SecretBytes) throws(TPMError) {
    size = try Marshalling.copy(secret, into: &buffer)
  }
}

extension TPM2B_SENSITIVE_DATA {
  mutating func take(_ secret: borrowing SecretBytes) throws(TPMError) {
    size = try Marshalling.copy(secret, into: &buffer)
  }

  /// The bytes, in locked memory. The caller wipes this value.
  var secret: SecretBytes {
    mutating get {
      let count = Int(size)
      return withUnsafeBytes(of: &buffer) {
        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
      }
    }
  }
}

extension TPM2B_NAME {
  var bytes: [UInt8] { withUnsafeBytes(of: name) { Array($0.prefix(Int(size))) } }
}

extension UnsafeMutableRawBufferPointer {
  func wipe() {
    if let baseAddress { explicit_bzero(baseAddress, count) }
  }
}

/// The TPM's encoding of the two parts of a sealed object, which is how they are stored.
enum Marshalling {
  fileprivate static func copy<Buffer>(_ secret: borrowing SecretBytes, into buffer: inout Buffer)
    throws(TPMError) -> UInt16
  {
    let isShort = withUnsafeMutableBytes(of: &buffer) { target in
      guard secret.count <= target.count else { return false }
      secret.withUnsafeBytes { target.copyMemory(from: $0) }
      return true
    }
    guard isShort else { throw .refused("a secret is too long") }
    return UInt16(secret.count)
  }

  static func bytes(of part: UnsafePointer<TPM2B_PUBLIC>) throws(TPMError) -> [UInt8] {
    try bytes(atMost: MemoryLayout<TPM2B_PUBLIC>.size) { Tss2_MU_TPM2B_PUBLIC_Marshal(part, $0, $1, $2) }
  }

  static func bytes(of part: UnsafePointer<TPM2B_PRIVATE>) throws(TPMError) -> [UInt8] {
    try bytes(atMost: MemoryLayout<TPM2B_PRIVATE>.size) { Tss2_MU_TPM2B_PRIVATE_Marshal(part, $0, $1, $2) }
  }

  static func publicPart(_ bytes: [UInt8]) throws(TPMError) -> TPM2B_PUBLIC {
    var part = TPM2B_PUBLIC()
    try parse(bytes) { Tss2_MU_TPM2B_PUBLIC_Unmarshal($0, $1, $2, &part) }
    return part
  }

  static func privatePart(_ bytes: [UInt8]) throws(TPMError) -> TPM2B_PRIVATE {
    var part = TPM2B_PRIVATE()
    try parse(bytes) { Tss2_MU_TPM2B_PRIVATE_Unmarshal($0, $1, $2, &part) }
    return part
  }

  private static func bytes(
    atMost limit: Int, _ marshal: (UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> TSS2_RC
  ) throws(TPMError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    var used = 0
    // Writes at most as many bytes as it is told.
    let code = bytes.withUnsafeMutableBufferPointer { buffer -> TSS2_RC in
      guard let base = buffer.baseAddress else { return 1 }
      return marshal(base, buffer.count, &used)
    }
    try ResponseCode.check(code, "Marshal")
    return Array(bytes.prefix(used))
  }

  private static func parse(
    _ bytes: [UInt8], _ unmarshal: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> TSS2_RC
  ) throws(TPMError) {
    var used = 0
    // Borrows the bytes for the call.
    let code = bytes.withUnsafeBufferPointer { buffer -> TSS2_RC in
      guard let base = buffer.baseAddress else { return 1 }
      return unmarshal(base, buffer.count, &used)
    }
    guard code == 0, used == bytes.count else { throw .refused("a sealed object is damaged") }
  }
}

/// The public parts of the objects that Whorl makes in a TPM.
extension TPM2B_PUBLIC {
  /// The TCG's storage key with the curve P-256 ("TPM v2.0 Provisioning Guidance", 7.5.1). Every TPM of a PC has it, and
  /// makes the same key from the same template until it is cleared.
  static var storageKey: TPM2B_PUBLIC {
    var area = TPMT_PUBLIC()
    area.type = TPM2_ALG_ECC
    area.nameAlg = TPM2_ALG_SHA256
    area.objectAttributes =
      TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH
      | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT
    area.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_AES
    area.parameters.eccDetail.symmetric.keyBits.aes = 128
    area.parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_CFB
    area.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL
    area.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
    area.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
    area.unique.ecc.x.size = 32
    area.unique.ecc.y.size = 32
    var template = TPM2B_PUBLIC()
    template.publicArea = area
    return template
  }

  /// A sealed object that opens only through a session of a policy with `PolicyAuthValue`, which proves the authorization
  /// value without sending it.
  ///
  /// - Parameter isGuessable: whether wrong values count for the TPM's dictionary lockout.
  static func sealed(under policy: [UInt8], isGuessable: Bool) -> TPM2B_PUBLIC {
    var area = TPMT_PUBLIC()
    area.type = TPM2_ALG_KEYEDHASH
    area.nameAlg = TPM2_ALG_SHA256
    area.objectAttributes =
      TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | (isGuessable ? 0 : TPMA_OBJECT_NODA)
    area.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL
    area.authPolicy.size = UInt16(policy.count)
    withUnsafeMutableBytes(of: &area.authPolicy.buffer) { $0.copyBytes(from: policy) }
    var template = TPM2B_PUBLIC()
    template.publicArea = area
    return template
  }

  /// The policy `PolicyAuthValue` alone: SHA-256 of 32 zero bytes and TPM_CC_PolicyAuthValue (TPM 2.0, part 3, 23.17).
  /// Fixed here, so that nothing between this program and the TPM can choose another policy.
  static let policyAuthValue: [UInt8] = [
    0x8F, 0xCD, 0x21, 0x69, 0xAB, 0x92, 0x69, 0x4E, 0x0C, 0x63, 0x3F, 0x1A, 0xB7, 0x72, 0x84, 0x2B,
    0x82, 0x41, 0xBB, 0xC2, 0x02, 0x88, 0x98, 0x1F, 0xC7, 0xAC, 0x1E, 0xDD, 0xC1, 0xFD, 0xDB, 0x0E,
  ]
}
