import LocalAuthentication

// Code as printed in articles, one function for each argument, for tests with a simulated person.

switch CommandLine.arguments.dropFirst().first {
case "wrapper": useWrapper()
case "save-current-set": BiometricItem.save("behind the mirror", .biometryCurrentSet)
case "save-presence": BiometricItem.save("behind the mirror", .userPresence)
case "read":
  print("exists: \(BiometricItem.exists())")
  print("read: \(BiometricItem.read("see where the treasure is"))")
case "evaluate": authenticationWithTouchID()
case "evaluate-owner": await authenticateOwner()
case "reuse": await reuse()
case "remember-fingers": DomainState.remember()
case "check-fingers": DomainState.check()
case "make-key":
  do {
    _ = try EnclaveKey.make()
    print("made")
  } catch {
    print("not made: \((error as NSError).code)")
  }
case "login": await useLogin()
case "token": await useToken()
case "server-key": await useServerKey()
case "use-key": EnclaveKey.signAndDecrypt()
default:
  print("usage: published-code WORD")
  exit(64)
}
