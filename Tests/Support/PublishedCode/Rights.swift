import Foundation
import LocalAuthentication

// Rights, as Apple's pages and the talk "Streamline local authorization flows" (WWDC22) describe them: a login that gates a
// screen, a token behind a login, and a key for a server's challenges.

/// A login that gates a part of the app.
@MainActor
final class LoginModel {
  private(set) var loginRight = LARight(requirement: .biometry(fallback: .devicePasscode))
  private(set) var isShowingProtectedScreen = false
  var error: Error?

  var stateName: String {
    switch loginRight.state {
    case .unknown: return "unknown"
    case .authorizing: return "authorizing"
    case .authorized: return "authorized"
    case .notAuthorized: return "not authorized"
    @unknown default: return "new"
    }
  }

  func login() async {
    do {
      try await loginRight.checkCanAuthorize()
    } catch {
      print("cannot log in: \((error as NSError).domain) \((error as NSError).code)")
      return
    }
    do {
      try await loginRight.authorize(localizedReason: "access your sandcastles")
      isShowingProtectedScreen = true
    } catch {
      self.error = error
      print("authentication required: \((error as? LAError)?.code.rawValue ?? 0)")
    }
  }

  func logout() async {
    await loginRight.deauthorize()
    isShowingProtectedScreen = false
  }
}

/// A token of the app, and a key for its server.
struct RightsOfApp {
  let store = LARightStore.shared
  let tokenIdentifier = "token"

  func storeToken(_ token: Data) async throws {
    let right = LARight(requirement: .biometryCurrentSet)
    right.tag = 7
    _ = try await store.saveRight(right, identifier: tokenIdentifier, secret: token)
  }

  func fetchToken() async throws -> Data {
    let right = try await store.right(forIdentifier: tokenIdentifier)
    try await right.authorize(localizedReason: "read your token")
    return try await right.secret.rawData
  }

  /// The same with completion handlers, as older code has it.
  func fetchToken(completion: @escaping @Sendable (Data?, Error?) -> Void) {
    store.right(forIdentifier: tokenIdentifier) { right, error in
      guard let right else { return completion(nil, error) }
      right.authorize(localizedReason: "read your token") { error in
        if let error { return completion(nil, error) }
        right.secret.loadData { data, error in
          completion(data, error)
          // Keeps the right for as long as its secret is loaded.
          right.deauthorize {}
        }
      }
    }
  }

  func generateServerKey() async throws -> Data {
    let persistedRight = try await store.saveRight(LARight(), identifier: "server")
    return try await persistedRight.key.publicKey.bytes
  }

  func answer(challenge: Data) async throws -> (signature: Data, isValid: Bool) {
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    let persistedRight = try await store.right(forIdentifier: "server")
    try await persistedRight.authorize(localizedReason: "answer the server")
    guard persistedRight.key.canSign(using: algorithm) else { throw CocoaError(.featureUnsupported) }
    let signature = try await persistedRight.key.sign(challenge, algorithm: algorithm)
    do {
      try await persistedRight.key.publicKey.verify(challenge, signature: signature, algorithm: algorithm)
      return (signature, true)
    } catch {
      return (signature, false)
    }
  }

  /// Only the server's public key is needed to check the answer elsewhere.
  func isValid(_ signature: Data, of challenge: Data, publicKey bytes: Data) -> Bool {
    let attributes: [CFString: Any] = [
      kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
    ]
    guard let key = SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil) else { return false }
    return SecKeyVerifySignature(
      key, .ecdsaSignatureMessageX962SHA256, challenge as CFData, signature as CFData, nil)
  }

  func removeAll() async throws { try await store.removeAllRights() }
}

@MainActor
func useLogin() async {
  let model = LoginModel()
  print("before: \(model.stateName)")
  await model.login()
  print("logged in: \(model.isShowingProtectedScreen), \(model.stateName)")
  await model.logout()
  print("logged out: \(model.stateName)")
}

func useToken() async {
  let app = RightsOfApp()
  do {
    try await app.storeToken(Data("sand".utf8))
    print("stored")
    print("token: \(String(decoding: try await app.fetchToken(), as: UTF8.self))")
    let again: String = await withCheckedContinuation { continuation in
      app.fetchToken { data, error in
        continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) } ?? "\(error as Any)")
      }
    }
    print("token by completion: \(again)")
    let closed = try await LARightStore.shared.right(forIdentifier: app.tokenIdentifier)
    do {
      _ = try await closed.secret.rawData
      print("token without authorization")
    } catch {
      print("no token without authorization")
    }
  } catch {
    print("failed: \(error)")
  }
}

func useServerKey() async {
  let app = RightsOfApp()
  do {
    let publicKey = try await app.generateServerKey()
    print("public key: \(publicKey.count) bytes")
    let challenge = Data("nonce".utf8)
    let (signature, isValid) = try await app.answer(challenge: challenge)
    print("answered: \(isValid), and for the server: \(app.isValid(signature, of: challenge, publicKey: publicKey))")
    print("another challenge: \(app.isValid(signature, of: Data("other".utf8), publicKey: publicKey))")
    try await app.removeAll()
    do {
      _ = try await app.store.right(forIdentifier: "server")
      print("still there")
    } catch {
      print("removed")
    }
  } catch {
    print("failed: \(error)")
  }
}
