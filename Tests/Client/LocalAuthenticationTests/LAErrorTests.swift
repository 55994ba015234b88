import Foundation
import Presence
import Security
import Testing
import Vault
import VaultItems
import VaultStore
import Whorl

@testable import LocalAuthentication

@Suite("LAError, as Swift code meets it")
struct LAErrorTests {
  private static let codes: [(LAError.Code, Int)] = [
    (.authenticationFailed, -1), (.userCancel, -2), (.userFallback, -3), (.systemCancel, -4), (.passcodeNotSet, -5),
    (.biometryNotAvailable, -6), (.biometryNotEnrolled, -7), (.biometryLockout, -8), (.appCancel, -9),
    (.invalidContext, -10), (.companionNotAvailable, -11), (.biometryNotPaired, -12), (.biometryDisconnected, -13),
    (.invalidDimensions, -14), (.notInteractive, -1004),
  ]

  @Test("LAError has Apple's codes, the earlier names among them, and Apple's domain")
  func values() {
    for (code, value) in Self.codes { #expect(code.rawValue == value) }
    #expect(LAError.touchIDNotAvailable == .biometryNotAvailable)
    #expect(LAError.Code.touchIDNotEnrolled == LAError.biometryNotEnrolled)
    #expect(LAError.Code.touchIDLockout.rawValue == -8)
    #expect(LAError.Code.watchNotAvailable == .companionNotAvailable)
    #expect(LAErrorDomain == "com.apple.LocalAuthentication" && kLAErrorDomain == LAErrorDomain)
    #expect(LAError.errorDomain == LAErrorDomain)
    #expect(kLAErrorUserCancel == -2 && kLAErrorNotInteractive == -1004 && kLAErrorTouchIDLockout == -8)
  }

  @Test("an LAError exists for every way in which an authentication can end")
  func everyOutcome() {
    for outcome in AuthenticationCode.allCases {
      let code = LAError.Code(rawValue: outcome.rawValue)
      #expect(code.map { "\($0)" } == "\(outcome)")
    }
    #expect(AuthenticationCode.allCases.count == Self.codes.count)
  }

  @Test("LAPolicy, LABiometryType, LACredentialType and LAAccessControlOperation have Apple's raw values")
  func otherValues() {
    #expect(LAPolicy.deviceOwnerAuthenticationWithBiometrics.rawValue == 1)
    #expect(LAPolicy.deviceOwnerAuthentication.rawValue == 2)
    #expect(LAPolicy.deviceOwnerAuthenticationWithCompanion.rawValue == 3)
    #expect(LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion.rawValue == 4)
    let types: [LABiometryType] = [.none, .touchID, .faceID, .opticID]
    #expect(types.map(\.rawValue) == [0, 1, 2, 4])
    #expect(LACredentialType.applicationPassword.rawValue == 0)
    #expect(LACredentialType.smartCardPIN.rawValue == -3)
    let operations: [LAAccessControlOperation] = [
      .createItem, .useItem, .createKey, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange,
    ]
    #expect(operations.map(\.rawValue) == Array(0...5))
    #expect(kLAPolicyDeviceOwnerAuthentication == 2)
  }

  @Test("an NSError of LAErrorDomain is an LAError, under `as?`, `catch` and `~=`")
  func fromNSError() throws {
    let error = NSError(domain: LAErrorDomain, code: -2, userInfo: [NSLocalizedDescriptionKey: "stopped"])
    #expect((error as? LAError)?.code == .userCancel)
    #expect((error as any Error as? LAError)?.localizedDescription == "stopped")
    var caught = ""
    do { throw error } catch LAError.userFallback { caught = "fallback" } catch LAError.userCancel { caught = "cancel" }
    #expect(caught == "cancel")
    do { throw error } catch let error as LAError { caught = "\(error.code.rawValue)" }
    #expect(caught == "-2")
    switch error as any Error {
    case LAError.userCancel: break
    default: Issue.record("a pattern does not match")
    }
  }

  @Test("an LAError is an NSError, under `as` and `catch`")
  func toNSError() {
    let error: any Error = LAError(.biometryLockout, userInfo: [NSLocalizedDescriptionKey: "locked"])
    #expect((error as NSError).code == -8)
    #expect((error as NSError).domain == LAErrorDomain)
    #expect(error.localizedDescription == "locked")
    var code = 0
    do { throw error } catch let error as NSError { code = error.code }
    #expect(code == LAError.biometryLockout.rawValue)
    #expect(LAError.Code(rawValue: code) == .biometryLockout)
    #expect((error as? LAError)?.errorCode == -8)
  }

  @Test("an NSError of another domain, or with an unknown code, is not an LAError")
  func others() {
    #expect(NSError(domain: NSCocoaErrorDomain, code: -2) as? LAError == nil)
    #expect(NSError(domain: LAErrorDomain, code: -77) as? LAError == nil)
    #expect(CocoaError(.userCancelled) as any Error as? LAError == nil)
  }

  @Test("an LAError can be switched over, and every code has its own message")
  func words() {
    func name(_ error: LAError) -> String {
      switch error.code {
      case .userCancel: "cancel"
      case .touchIDLockout: "lockout"
      default: "other"
      }
    }
    #expect(name(LAError(.userCancel)) == "cancel")
    #expect(name(LAError(.biometryLockout)) == "lockout")
    #expect(name(LAError(.appCancel)) == "other")
    #expect(!LAError(.appCancel).localizedDescription.isEmpty)
    let words = Self.codes.map { $0.0.words }
    #expect(Set(words).count == words.count && !words.contains(""))
  }

  @Test("an LAError carries the store's own error and its message")
  func underlying() {
    let error = LAError(VaultError.passcodeDelayed(seconds: 60))
    #expect(error.code == .authenticationFailed)
    #expect(error.userInfo[NSUnderlyingErrorKey] as? VaultError == .passcodeDelayed(seconds: 60))
    #expect(error.localizedDescription == "Too many wrong passcodes: the next one is taken in 60 seconds.")
    #expect(
      LAError(VaultError.wrongPasscode).localizedDescription == LAError.Code.authenticationFailed.words,
      "what has no more to say has its code's words")
  }

  @Test("NSErrorPointer takes a variable or nil")
  func pointer() {
    func fill(_ error: NSErrorPointer) { error?.pointee = LAError(.passcodeNotSet)._nsError }
    var error: NSError?
    fill(&error)
    fill(nil)
    #expect(error?.code == LAError.passcodeNotSet.rawValue)
  }
}
