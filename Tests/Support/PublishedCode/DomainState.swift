import Foundation
import LocalAuthentication

// Detects added and removed fingers since the last sign-in, by evaluatedPolicyDomainState, kept as in user defaults.

enum DomainState {
  private static let keychain = KeychainWrapper(service: "org.example.domain-state")

  static func currentState() -> Data? {
    let context = LAContext()
    var error: NSError?
    guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else { return nil }
    return context.evaluatedPolicyDomainState
  }

  static func remember() {
    guard let state = currentState() else { return print("no state") }
    do {
      try keychain.save(state.base64EncodedString(), for: "state")
      print("remembered")
    } catch {
      print("unexpected: \(error)")
    }
  }

  static func check() {
    guard let stored = try? keychain.read("state"), let old = Data(base64Encoded: stored) else {
      return print("nothing remembered")
    }
    print(old == currentState() ? "the fingers are the same" : "the fingers have changed: sign in again")
  }
}
