// A safe that opens for a finger: a saved right with a key and a secret.
//
//     rights login       a right that is not saved
//     rights fill        saves the safe's right with its secret
//     rights open        authorizes it, reads the secret and signs with the key
//     rights closed      uses both without an authorization
//     rights empty       removes the right
//     rights machine     what one can authenticate with here

import LocalAuthentication

let identifier = "org.example.safe"
let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
let message = Data("the safe is open".utf8)

@MainActor
func attempt(_ what: String, _ body: @MainActor () async throws -> Void) async {
  do {
    try await body()
  } catch LAError.notInteractive {
    print("\(what): not authorized")
  } catch let error as LAError where error.code == .biometryNotEnrolled {
    print("\(what): the fingers are not enrolled")
  } catch {
    let error = error as NSError
    print("\(what): refused (\(error.code))")
  }
}

@MainActor
final class Login {
  private let right = LARight()

  func run() async {
    await attempt("login") {
      try await right.checkCanAuthorize()
      try await right.authorize(localizedReason: "sign in")
      print("signed in: \(right.state == .authorized)")
    }
    await right.deauthorize()
    print("signed out: \(right.state == .notAuthorized)")
  }
}

switch CommandLine.arguments.dropFirst().first {
case "login":
  await Login().run()
case "fill":
  await attempt("fill") {
    let right = LARight(requirement: LAAuthenticationRequirement.biometryCurrentSet)
    _ = try await LARightStore.shared.saveRight(right, identifier: identifier, secret: Data("gold".utf8))
    print("filled")
  }
case "open":
  await attempt("open") {
    let right = try await LARightStore.shared.right(forIdentifier: identifier)
    try await right.authorize(localizedReason: "open the safe")
    let secret = try await right.secret.rawData
    print("in the safe: \(String(decoding: secret, as: UTF8.self))")
    guard right.key.canSign(using: algorithm) else { return }
    let signature = try await right.key.sign(message, algorithm: algorithm)
    try await right.key.publicKey.verify(message, signature: signature, algorithm: algorithm)
    print("signed with its key")
  }
case "closed":
  await attempt("find") {
    let right = try await LARightStore.shared.right(forIdentifier: identifier)
    await attempt("secret") { _ = try await right.secret.rawData }
    await attempt("key") { _ = try await right.key.sign(message, algorithm: algorithm) }
  }
case "empty":
  await attempt("empty") {
    try await LARightStore.shared.removeRight(forIdentifier: identifier)
    print("emptied")
  }
case "machine":
  if #available(macOS 15, *) {
    let state = LAEnvironment.currentUser.state
    print("finger: \(state.biometry?.isUsable == true), passcode: \(state.userPassword?.isSet == true)")
  }
default:
  print("usage: rights login | fill | open | closed | empty | machine")
}
