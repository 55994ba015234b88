internal import CTSS

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
