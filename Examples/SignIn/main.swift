// Signing in with a finger, and what to do when that does not work.
//
//     sign-in             a finger, or the passcode in its place; then the account's own password
//     sign-in finger      a finger alone; then the account's own password

import LocalAuthentication

enum Session {
  case signedOut
  case signedIn(how: String)
}

/// The way in that was there before fingers were: the program's own.
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
