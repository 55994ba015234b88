// Signing in with a finger, and the fallback if that fails.
//
//     sign-in             a finger or the passcode; the account's own password as the fallback
//     sign-in finger      a finger only; the account's own password as the fallback

import LocalAuthentication

enum Session {
  case signedOut
  case signedIn(how: String)
}

/// Signs in with the account's own password, as before fingers were supported.
func signInWithPassword() -> Session {
  print("password of the account:")
  return readLine() == "tulip" ? .signedIn(how: "the password") : .signedOut
}

func signIn(_ policy: LAPolicy) async -> Session {
  let context = LAContext()
  context.localizedFallbackTitle = "Use a password"
  context.localizedCancelTitle = "Not now"

  var error: NSError?
  guard context.canEvaluatePolicy(policy, error: &error) else {
    print("not possible here: \(error?.localizedDescription ?? "")")
    return signInWithPassword()
  }
  do {
    try await context.evaluatePolicy(policy, localizedReason: "sign in to your account")
    return .signedIn(how: policy == .deviceOwnerAuthentication ? "a finger or the passcode" : "a finger")
  } catch LAError.userCancel {
    print("cancelled")
    return .signedOut
  } catch LAError.userFallback {
    print("another way was wanted")
    return signInWithPassword()
  } catch LAError.biometryLockout {
    print("too many touches matched nobody")
    return signInWithPassword()
  } catch let error as LAError where error.code == .authenticationFailed {
    print("not recognised")
    return signInWithPassword()
  } catch {
    print("failed: \(error.localizedDescription)")
    return signInWithPassword()
  }
}

let fingerOnly = CommandLine.arguments.dropFirst().first == "finger"
switch await signIn(fingerOnly ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication) {
case .signedIn(let how): print("signed in with \(how)")
case .signedOut:
  print("signed out")
  exit(1)
}
