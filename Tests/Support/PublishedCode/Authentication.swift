// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
// As articles write it: what cannot be nil here is unwrapped.

import Foundation
import LocalAuthentication

// Evaluating a policy, with a reply and with async/await, and handling the errors that articles handle.

func message(for code: Int) -> String {
  switch code {
  case LAError.authenticationFailed.rawValue: return "the user failed to provide valid credentials"
  case LAError.userCancel.rawValue: return "the user did cancel"
  case LAError.userFallback.rawValue: return "the user chose to use the fallback"
  case LAError.systemCancel.rawValue: return "authentication was cancelled by the system"
  case LAError.passcodeNotSet.rawValue: return "passcode is not set on the device"
  case LAError.appCancel.rawValue: return "authentication was cancelled by application"
  case LAError.invalidContext.rawValue: return "the context is invalid"
  case LAError.notInteractive.rawValue: return "not interactive"
  case LAError.biometryNotAvailable.rawValue: return "biometry is not available"
  case LAError.biometryLockout.rawValue: return "too many failed attempts"
  case LAError.biometryNotEnrolled.rawValue: return "biometry is not enrolled"
  default: return "did not find an error code on LAError"
  }
}

/// With a reply, which continues on the main queue.
func authenticationWithTouchID() {
  let context = LAContext()
  context.localizedFallbackTitle = "Use a password"
  var authError: NSError?
  guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &authError) else {
    print("cannot evaluate: \(message(for: authError!.code)) (\(authError!.code))")
    exit(0)
  }
  print("type: \(context.biometryType == .touchID ? "Touch ID" : "none")")
  context.evaluatePolicy(
    .deviceOwnerAuthenticationWithBiometrics, localizedReason: "access your notes"
  ) { success, evaluateError in
    DispatchQueue.main.async {
      if success {
        print("authenticated successfully")
      } else if let error = evaluateError as NSError? {
        print("\(message(for: error.code)) (\(error.code))")
      }
      exit(0)
    }
  }
  dispatchMain()
}

/// With async/await; the owner's passcode is the fallback.
func authenticateOwner() async {
  let context = LAContext()
  do {
    let success = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "access your notes")
    print(success ? "authenticated successfully" : "impossible")
  } catch let error as LAError {
    print("\(message(for: error.code.rawValue)) (\(error.errorCode))")
  } catch {
    print("unexpected: \(error)")
  }
}

/// One touch for two evaluations, and for two reads.
func reuse() async {
  let first = LAContext()
  do {
    try await first.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "access your notes")
    print("evaluated")
    let second = LAContext()
    second.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
    try await second.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "save your notes")
    print("evaluated again")
  } catch {
    print("failed: \(error.localizedDescription)")
  }
  print("read: \(BiometricItem.read("read your notes", context: first))")
  print("read again: \(BiometricItem.read("read your notes", context: first))")
  first.invalidate()
  print("read after invalidating: \(BiometricItem.read("read your notes", context: first))")
}
