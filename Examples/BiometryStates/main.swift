// Shows what a program can know about biometry before it asks for a finger, and how a lockout ends.
//
//     biometry-states              prints the state of biometry
//     biometry-states finger       asks for a finger only
//     biometry-states passcode     asks for a finger or the passcode; the right passcode ends a lockout

import LocalAuthentication

func describe(_ code: LAError.Code?) -> String {
  switch code {
  case .biometryNotAvailable: "not available: there is no reader, or it cannot be used"
  case .biometryDisconnected: "disconnected: the reader the fingers were enrolled on is not there"
  case .biometryNotEnrolled: "not enrolled: there is a reader, and no finger"
  case .biometryLockout: "locked out: the passcode is needed"
  case .passcodeNotSet: "no passcode is set"
  case .authenticationFailed: "the finger is not enrolled"
  case .userCancel, .appCancel, .systemCancel: "cancelled"
  case let other: "something else (\(other?.rawValue ?? 0))"
  }
}

func state() {
  let context = LAContext()
  print("before anything is asked, the type is \(context.biometryType == .none ? "none" : "known")")
  var error: NSError?
  if context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) {
    print("biometry: available")
  } else {
    print("biometry: \(describe((error as? LAError)?.code))")
  }
  print("reader: \(context.biometryType == .touchID ? "for fingers" : "none")")
  print("fingers: \(context.evaluatedPolicyDomainState == nil ? "unknown" : "known by their state")")
}

func evaluate(_ policy: LAPolicy) async {
  do {
    try await LAContext().evaluatePolicy(policy, localizedReason: "show how this goes")
    print("evaluated")
  } catch {
    print("refused: \(describe((error as? LAError)?.code))")
  }
}

switch CommandLine.arguments.dropFirst().first {
case nil: state()
case "finger": await evaluate(.deviceOwnerAuthenticationWithBiometrics)
case "passcode": await evaluate(.deviceOwnerAuthentication)
default:
  print("usage: biometry-states [finger | passcode]")
  exit(64)
}
