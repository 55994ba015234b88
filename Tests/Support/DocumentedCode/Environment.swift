import Foundation
import LocalAuthentication

/// https://developer.apple.com/documentation/localauthentication/laenvironment/observer
private final class EnvironmentObserver: NSObject, LAEnvironment.Observer {
  func environment(
    _ environment: LAEnvironment,
    stateDidChangeFromOldState oldState: LAEnvironment.State
  ) {
    print("the environment changed: \(oldState) to \(environment.state)")
  }
}

func checkEnvironment() async {
  // https://developer.apple.com/documentation/localauthentication/laenvironment/currentuser
  let environment = LAEnvironment.currentUser
  let state: LAEnvironment.State = environment.state

  // "nil if biometry is not supported by this device."
  // https://developer.apple.com/documentation/localauthentication/laenvironment/state-swift.class/biometry
  check("environment.biometry", state.biometry != nil)
  if let biometry = state.biometry {
    let context = LAContext()
    let usable = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
    // "whether the relevant preflight call of canEvaluatePolicy would succeed"
    // https://developer.apple.com/documentation/localauthentication/laenvironment/mechanism/isusable
    check("environment.biometry.isUsable", biometry.isUsable == usable)
    // "Whether the user has enrolled this biometry." (LAEnvironmentMechanismBiometry.h)
    // https://developer.apple.com/documentation/localauthentication/laenvironment/mechanismbiometry
    check("environment.biometry.isEnrolled", biometry.isEnrolled)
    // "Whether biometry is locked out." It cannot be both locked out and usable.
    check("environment.biometry.isLockedOut", !(biometry.isLockedOut && biometry.isUsable))
    // "Type of biometry supported by the device."
    check("environment.biometry.type", biometry.biometryType == context.biometryType)
    // "inaccessible in the current configuration, preventing the use of biometry"
    // https://developer.apple.com/documentation/localauthentication/laenvironment/mechanismbiometry/builtinsensorinaccessible
    check(
      "environment.biometry.builtInSensorInaccessible",
      !(biometry.builtInSensorInaccessible && biometry.isUsable))
    // "as returned by LAContext.domainState.biometry.stateHash"
    // https://developer.apple.com/documentation/localauthentication/laenvironment/mechanismbiometry/statehash
    check("environment.biometry.stateHash", biometry.stateHash == context.domainState.biometry.stateHash)
  }

  // "nil if user password or passcode is not supported by this device."
  // https://developer.apple.com/documentation/localauthentication/laenvironment/state-swift.class/userpassword
  check("environment.userPassword", state.userPassword != nil)
  if let password = state.userPassword {
    // "Whether the local user password or passcode is set": a usable one is.
    check("environment.userPassword.isSet", password.isSet || !password.isUsable)
  }
  // "The localized name of the authentication mechanism, e.g. “Touch ID”, “Face ID” etc."
  // https://developer.apple.com/documentation/localauthentication/laenvironment/mechanism/localizedname
  check("environment.localizedName", state.allMechanisms.allSatisfy { !$0.localizedName.isEmpty })

  // "The observer will be held weakly so its instance should be kept alive by the caller."
  // https://developer.apple.com/documentation/localauthentication/laenvironment/addobserver(_:)
  // "If the observer is deallocated, it will be removed automatically."
  // https://developer.apple.com/documentation/localauthentication/laenvironment/removeobserver(_:)
  weak var observed: EnvironmentObserver?
  do {
    let observer = EnvironmentObserver()
    observed = observer
    environment.addObserver(observer)
  }
  try? await Task.sleep(nanoseconds: 500_000_000)
  check("environment.addObserver.weak", observed == nil, "the environment keeps the observer alive")
  let observer = EnvironmentObserver()
  environment.addObserver(observer)
  environment.removeObserver(observer)
}
