import Foundation
import LocalAuthentication
import Security

func checkRights() async {
  // https://developer.apple.com/documentation/localauthentication/laright
  // "Right has not been evaluated yet. This is the initial state" (LARight.h, LARight.State.unknown)
  let right = LARight()
  check("right.state.initial", right.state == .unknown, "\(right.state)")
  // "The default value is 0." (LARight.h, tag)
  check("right.tag.default", right.tag == 0, "\(right.tag)")
  right.tag = 42
  check("right.tag.set", right.tag == 42, "\(right.tag)")

  // error: "If nil, the right can be authorized."
  // https://developer.apple.com/documentation/localauthentication/laright/checkcanauthorize(completion:)
  await succeeds("right.checkCanAuthorize") { try await right.checkCanAuthorize() }

  // Reading `state` while authorize runs. authorizing: "Requirements are currently being evaluated.
  // This happens after calling authorize method but before the user has granted the right." (LARight.h)
  // https://developer.apple.com/documentation/localauthentication/laright/authorize(localizedreason:completion:)
  let outcome = Box<Result<Void, any Error>>()
  right.authorize(localizedReason: "check the states of a right") { error in
    outcome.put(error.map { .failure($0) } ?? .success(()))
  }
  var seen: [LARight.State] = []
  while outcome.value == nil {
    if seen.last != right.state { seen.append(right.state) }
    try? await Task.sleep(nanoseconds: 5_000_000)
  }
  await succeeds("right.authorize.default") { try outcome.value?.get() }
  check("right.state.authorizing", seen.contains(.authorizing), "saw \(seen)")
  check("right.state.authorized", right.state == .authorized, "\(right.state)")

  // "Invalidates a previously authorized right."
  // https://developer.apple.com/documentation/localauthentication/laright/deauthorize(completion:)
  await right.deauthorize()
  check("right.deauthorize", right.state != .authorized, "\(right.state)")

  // https://developer.apple.com/documentation/localauthentication/laauthenticationrequirement
  // https://developer.apple.com/documentation/localauthentication/laauthenticationrequirement/biometry(fallback:)
  // https://developer.apple.com/documentation/localauthentication/labiometryfallbackrequirement
  let requirements: [(String, LAAuthenticationRequirement, touch: Bool)] = [
    ("default", .default, false),
    ("biometry", .biometry, true),
    ("biometryCurrentSet", .biometryCurrentSet, true),
    ("biometry(fallback: .default)", .biometry(fallback: .default), false),
    ("biometry(fallback: .devicePasscode)", .biometry(fallback: .devicePasscode), true),
  ]
  for (name, requirement, touch) in requirements {
    let right = LARight(requirement: requirement)
    await succeeds("right.\(name).checkCanAuthorize") { try await right.checkCanAuthorize() }
    guard touch else { continue }
    await succeeds("right.\(name).authorize") {
      try await right.authorize(localizedReason: "authorize a right with \(name)")
    }
    check("right.\(name).authorized", right.state == .authorized, "\(right.state)")
    await right.deauthorize()
    check("right.\(name).deauthorized", right.state != .authorized, "\(right.state)")
  }
}

func checkRightStore() async {
  let store = LARightStore.shared
  let names = ["first", "second"].map { "documented.\($0).\(UUID().uuidString)" }
  await checkPersistedRights(named: names)
  for name in names {  // Whatever the checks above left.
    try? await store.removeRight(forIdentifier: name)
  }
}

private func checkPersistedRights(named names: [String]) async {
  let store = LARightStore.shared
  let token = Data("a very secret token".utf8)
  let message = Data("a message".utf8)
  let signing = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
  let encryption = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
  let exchange = SecKeyAlgorithm.ecdhKeyExchangeCofactorX963SHA256

  // handler: the right, or "an error object that indicates why the right parameter is nil"
  // https://developer.apple.com/documentation/localauthentication/larightstore/right(foridentifier:completion:)
  await fails("store.right.missing") { try await store.right(forIdentifier: names[0]) }
  // https://developer.apple.com/documentation/localauthentication/larightstore/saveright(_:identifier:secret:completion:)
  await succeeds("store.saveRight.secret") {
    try await store.saveRight(LARight(), identifier: names[0], secret: token)
  }
  // https://developer.apple.com/documentation/localauthentication/larightstore/saveright(_:identifier:completion:)
  guard
    let second = await succeeds(
      "store.saveRight",
      {
        try await store.saveRight(LARight(requirement: .biometryCurrentSet), identifier: names[1])
      }),
    let first = await succeeds(
      "store.right",
      {
        try await store.right(forIdentifier: names[0])
      })
  else { return }

  // "Public key operations like encryption and verification are always available."
  // https://developer.apple.com/documentation/localauthentication/lapersistedright
  // https://developer.apple.com/documentation/localauthentication/lapublickey
  let key: LAPrivateKey = first.key
  let publicKey: LAPublicKey = key.publicKey
  check("key.canEncrypt", publicKey.canEncrypt(using: encryption))
  check("key.canVerify", publicKey.canVerify(using: signing))
  guard
    let sealed = await succeeds(
      "key.encrypt.beforeAuthorization",
      {
        try await publicKey.encrypt(message, algorithm: encryption)
      }),
    let peer = await succeeds(
      "key.bytes.beforeAuthorization",
      {
        try await second.key.publicKey.bytes
      })
  else { return }
  check("key.encrypt.conceals", sealed != message)

  // "Checks whether the algorithm you supply is valid for signing data with the key", and so on.
  // https://developer.apple.com/documentation/localauthentication/laprivatekey/cansign(using:)
  check("key.canSign", key.canSign(using: signing))
  check("key.canSign.RSA", !key.canSign(using: .rsaSignatureMessagePKCS1v15SHA256))
  check("key.canDecrypt", key.canDecrypt(using: encryption))
  check("key.canExchangeKeys", key.canExchangeKeys(using: exchange))

  // "private key operations — like decryption, signing, and key exchange — are only available after
  // you authorize the right." https://developer.apple.com/documentation/localauthentication/lapersistedright
  // https://developer.apple.com/documentation/security/seckeykeyexchangeparameter
  let parameters: [AnyHashable: Any] = [
    SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 32,
    SecKeyKeyExchangeParameter.sharedInfo.rawValue as String: Data("documented".utf8),
  ]
  await fails("key.sign.notAuthorized") { try await key.sign(message, algorithm: signing) }
  await fails("key.decrypt.notAuthorized") { try await key.decrypt(sealed, algorithm: encryption) }
  await fails("key.exchangeKeys.notAuthorized") {
    try await key.exchangeKeys(publicKey: peer, algorithm: exchange, parameters: parameters)
  }
  // The access control list ensures that the secret is only accessible once the right is authorized.
  // https://developer.apple.com/documentation/localauthentication/larightstore
  await fails("secret.rawData.notAuthorized") { try await first.secret.rawData }

  guard
    await succeeds(
      "persisted.authorize",
      {
        try await first.authorize(localizedReason: "use the first stored right")
      }) != nil
  else { return }
  check("persisted.state", first.state == .authorized, "\(first.state)")

  // https://developer.apple.com/documentation/localauthentication/laprivatekey/sign(_:algorithm:completion:)
  // https://developer.apple.com/documentation/localauthentication/lapublickey/verify(_:signature:algorithm:completion:)
  if let signature = await succeeds("key.sign", { try await key.sign(message, algorithm: signing) }) {
    await succeeds("key.verify") {
      try await publicKey.verify(message, signature: signature, algorithm: signing)
    }
    await fails("key.verify.otherMessage") {
      try await publicKey.verify(Data("another".utf8), signature: signature, algorithm: signing)
    }
  }
  // https://developer.apple.com/documentation/localauthentication/laprivatekey/decrypt(_:algorithm:completion:)
  let opened = await succeeds("key.decrypt") { try await key.decrypt(sealed, algorithm: encryption) }
  check("key.decrypt.result", opened == message)
  // https://developer.apple.com/documentation/localauthentication/lasecret/loaddata(completion:)
  let secret = await succeeds("secret.rawData") { try await first.secret.rawData }
  check("secret.rawData.result", secret == token)

  // Diffie-Hellman: both sides come to the same secret, of the requested size.
  // https://developer.apple.com/documentation/localauthentication/laprivatekey/exchangekeys(publickey:algorithm:parameters:completion:)
  let ours = await succeeds("key.exchangeKeys") {
    try await key.exchangeKeys(publicKey: peer, algorithm: exchange, parameters: parameters)
  }
  if await succeeds(
    "persisted.authorize.second",
    {
      try await second.authorize(localizedReason: "use the second stored right")
    }) != nil
  {
    let theirs = await succeeds("key.exchangeKeys.second") {
      try await second.key.exchangeKeys(
        publicKey: publicKey.bytes, algorithm: exchange,
        parameters: parameters)
    }
    check("key.exchangeKeys.agree", ours != nil && ours == theirs)
    check("key.exchangeKeys.size", ours?.count == 32)
    // "... or an error if no secret is found" (LASecret.h, loadDataWithCompletion:)
    await fails("secret.rawData.none") { try await second.secret.rawData }
  }

  // "Invalidates a previously authorized right": private key operations are unavailable again.
  await first.deauthorize()
  await fails("key.sign.deauthorized") { try await key.sign(message, algorithm: signing) }
  await fails("secret.rawData.deauthorized") { try await first.secret.rawData }

  // https://developer.apple.com/documentation/localauthentication/larightstore/removeright(_:completion:)
  // https://developer.apple.com/documentation/localauthentication/larightstore/removeright(foridentifier:completion:)
  await succeeds("store.removeRight") { try await store.removeRight(first) }
  await fails("store.right.removed") { try await store.right(forIdentifier: names[0]) }
  await succeeds("store.removeRight.identifier") { try await store.removeRight(forIdentifier: names[1]) }
  await fails("store.right.removed.identifier") { try await store.right(forIdentifier: names[1]) }
}
