import Presence
import Primitives
import Security
import Testing
import Vault
import VaultDriver
import VaultStore

@Suite("Statuses")
struct StatusTests {
  @Test("errSec constants have Apple's values")
  func values() {
    let values: [(OSStatus, OSStatus)] = [
      (noErr, 0), (errSecSuccess, 0), (errSecUnimplemented, -4), (errSecDiskFull, -34), (errSecIO, -36),
      (errSecOpWr, -49), (errSecParam, -50), (errSecWrPerm, -61), (errSecAllocate, -108), (errSecUserCanceled, -128),
      (errSecBadReq, -909), (errSecInternalComponent, -2070), (errSecMissingEntitlement, -34018),
      (errSecNotAvailable, -25291), (errSecReadOnly, -25292), (errSecAuthFailed, -25293),
      (errSecDuplicateItem, -25299), (errSecItemNotFound, -25300), (errSecDataTooLarge, -25302),
      (errSecNoSuchAttr, -25303), (errSecNoSuchClass, -25306), (errSecInteractionNotAllowed, -25308),
      (errSecInteractionRequired, -25315), (errSecInvalidOwnerEdit, -25244), (errSecPkcs12VerifyFailure, -25264),
      (errSecNotSigner, -26267), (errSecDecode, -26275), (errSecServiceNotAvailable, -67585),
      (errSecQuotaExceeded, -67596), (errSecCRLExpired, -67613), (errSecInternalError, -67671),
      (errSecInvalidSignature, -67688), (errSecInvalidKeyRef, -67712), (errSecUnsupportedKeySize, -67735),
      (errSecMissingAttributeWrappedKeyFormat, -67805), (errSecVerifyFailed, -67808),
      (errSecCertificateExpired, -67818), (errSecTimestampRevocationNotification, -67898),
      (errSecCertificateDuplicateExtension, -67903),
    ]
    for (status, value) in values { #expect(status == value) }
  }

  @Test("SecCopyErrorMessageString has a message for every status, also for an unknown one")
  func words() {
    #expect(SecCopyErrorMessageString(errSecItemNotFound, nil) as String? == "The item was not found.")
    #expect(SecCopyErrorMessageString(errSecUnsupportedKeyUsageMask, nil) as String? == "Unsupported key usage mask.")
    #expect(SecCopyErrorMessageString(errSecSMIMEBadKeyUsage, nil) as String? == "SMIME bad key usage.")
    #expect(SecCopyErrorMessageString(errSecCRLBadURI, nil) as String? == "CRL bad URI.")
    #expect(SecCopyErrorMessageString(12345, nil) as String? == "OSStatus 12345.")
    for status in OSStatus(-67903)...(-67585) {
      let words = SecCopyErrorMessageString(status, nil) as String? ?? ""
      #expect(words.hasSuffix(".") && !words.hasPrefix("OSStatus"), "\(status)")
    }
  }

  @Test("authentication errors become errSecUserCanceled, errSecInteractionNotAllowed, or else errSecAuthFailed")
  func authentication() {
    #expect(VaultError.cancelled.status == errSecUserCanceled)
    #expect(VaultError.interactionNotAllowed.status == errSecInteractionNotAllowed)
    let rest: [VaultError] = [
      .authenticationFailed, .userFallback, .appCancelled, .systemCancelled, .contextInvalidated, .biometryLockout,
      .wrongPasscode, .passcodeDelayed(seconds: 1), .passcodeNotSet, .notEnrolled, .reader(.absent), .timedOut,
      .setChanged,
    ]
    for error in rest { #expect(error.status == errSecAuthFailed, "\(error)") }
  }

  @Test("every vault error has Apple's status, under the name that the command line prints")
  func agreement() {
    let constants: [AppleStatus: OSStatus] = [
      .errSecDiskFull: errSecDiskFull, .errSecIO: errSecIO, .errSecParam: errSecParam,
      .errSecUserCanceled: errSecUserCanceled, .errSecNotAvailable: errSecNotAvailable,
      .errSecAuthFailed: errSecAuthFailed, .errSecNoSuchKeychain: errSecNoSuchKeychain,
      .errSecInvalidKeychain: errSecInvalidKeychain, .errSecDuplicateKeychain: errSecDuplicateKeychain,
      .errSecDuplicateItem: errSecDuplicateItem, .errSecItemNotFound: errSecItemNotFound,
      .errSecDataTooLarge: errSecDataTooLarge, .errSecInteractionNotAllowed: errSecInteractionNotAllowed,
      .errSecWrongSecVersion: errSecWrongSecVersion, .errSecDecode: errSecDecode,
      .errSecServiceNotAvailable: errSecServiceNotAvailable, .errSecInternalError: errSecInternalError,
    ]
    for status in AppleStatus.allCases { #expect(constants[status] == status.rawValue, "\(status)") }
    for error in EveryError.ofVault {
      let apple = error.described.apple
      #expect(error.status == constants[apple.status], "\(error)")
      #expect(error.authenticationError.code == apple.code.rawValue, "\(error)")
      // The name is that of the status, unless the code is more specific about a failed authentication.
      let isAuthentication = [errSecAuthFailed, errSecUserCanceled].contains(error.status)
      #expect(apple.name == "\(apple.status)" || isAuthentication && apple.name == "LAError.\(apple.code)", "\(error)")
    }
    #expect(Set(EveryError.ofVault.map(\.name)) == Set(VaultErrorName.allCases))
  }

  @Test("vault errors of an unusable store have other statuses than those of a missing item")
  func stores() {
    #expect(VaultError.storeNotFound("x").status == errSecNoSuchKeychain)
    #expect(VaultError.storeDamaged("x").status == errSecInvalidKeychain)
    #expect(VaultError.itemDamaged(nil).status == errSecDecode)
    #expect(VaultError.itemGone.status == errSecItemNotFound)
    #expect(VaultError.duplicateItem.status == errSecDuplicateItem)
    #expect(VaultError.secretTooLong(limit: 1).status == errSecDataTooLarge)
    #expect(VaultError.invalidRequest("x").status == errSecParam)
    #expect(VaultError.newerFormat(9).status == errSecWrongSecVersion)
    #expect(VaultError.inputOutput("x").status == errSecIO)
  }
}
