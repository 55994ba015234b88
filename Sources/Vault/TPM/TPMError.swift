internal import CTSS

/// The outcome of a call to the TPM that did not succeed. None carries a secret.
package enum TPMError: Error, Hashable, Sendable {
  /// The TPM cannot be reached; the value says why.
  case absent(String)
  /// The TPM's storage key is not the one that the object was sealed under: the TPM was cleared or replaced, or something
  /// between it and this program answers in its place.
  case changed
  /// The authorization value is not that of the object.
  case wrongAuthorization
  /// The TPM refuses every object with an authorization value for a while, after too many wrong ones.
  case lockedOut
  /// The registers that the object was sealed to have other values now.
  case registersChanged
  /// The storage hierarchy has an owner password.
  case ownerPassword
  /// The TPM or its library refused; the value names the call and the response code.
  case refused(String)
}

/// A response code of the TPM or of its library.
struct ResponseCode {
  private static let layerMask: TSS2_RC = 0xFFFF_0000
  /// The codes of the TPM itself, and those that the kernel's resource manager passes on or makes.
  private static let tpmLayers: Set<TSS2_RC> = [0, 11 << 16, 12 << 16]
  private static let connectionLayer: TSS2_RC = 10 << 16

  let value: TSS2_RC

  /// Throws unless the code says that the call has succeeded.
  static func check(_ code: TSS2_RC, _ call: String) throws(TPMError) {
    if let error = ResponseCode(value: code).error(of: call) { throw error }
  }

  /// The error for the code; nil for success.
  func error(of call: String) -> TPMError? {
    guard value != 0 else { return nil }
    let layer = value & Self.layerMask
    if layer == Self.connectionLayer { return .absent("it does not answer (\(call): \(text))") }
    guard Self.tpmLayers.contains(layer) else { return .refused("\(call): \(text)") }
    switch base {
    // TPM_RC_AUTH_FAIL, and TPM_RC_BAD_AUTH for objects that the dictionary lockout does not cover
    case 0x08E, 0x0A2: return .wrongAuthorization
    // TPM_RC_POLICY_FAIL, TPM_RC_PCR_CHANGED
    case 0x09D, 0x128: return .registersChanged
    // TPM_RC_LOCKOUT
    case 0x921: return .lockedOut
    default: return .refused("\(call): \(text)")
    }
  }

  /// The code of the TPM itself, without the number of the parameter; nil for a code of its library.
  var ofTPM: TSS2_RC? { Self.tpmLayers.contains(value & Self.layerMask) ? base : nil }

  /// The code without the number of the parameter, handle or session that it is about (TPM 2.0, part 2, 6.6.2).
  private var base: TSS2_RC {
    let code = value & 0xFFF
    return code & 0x080 == 0 ? code : code & 0x0BF
  }

  private var text: String { "0x" + String(value, radix: 16) }
}
