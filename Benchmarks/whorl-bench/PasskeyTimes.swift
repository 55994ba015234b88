import Keys
import Primitives
import SecretModel
import VirtualFinger
import Whorl

/// The time of the vault's calls for passkeys, in a store with one of them and in one with as many as there can be.
struct PasskeyTimes {
  let folder: String
  let rounds: Int

  func measure(into report: inout Report) async throws {
    let software = try SoftwareAuthenticator(in: folder)
    let few = try await samples(1, beside: software)
    let many = try await samples(Passkey.limit, beside: software)
    for (few, many) in zip(few, many) {
      report.add(few)
      report.add(many)
      guard !few.name.hasPrefix(SoftwareAuthenticator.name) else { continue }
      report.promise("\(many.name): of 1", many.median / few.median, atMost: 1.2)
    }
    report.promise(many[0].name, many[0].median / 1e6, atMost: 2, "ms")
    report.promise(many[2].name, many[2].median / 1e6, atMost: 5, "ms")
    report.promise(many[3].name, many[3].median / 1e6, atMost: 2, "ms")
    report.promise(many[4].name, many[4].median / 1e6, atMost: 5, "ms")
    guard software != nil else { return }
    report.promise("\(many[2].name): of \(SoftwareAuthenticator.name)", many[2].median / many[5].median, atMost: 10)
  }

  private func samples(_ count: Int, beside software: SoftwareAuthenticator?) async throws -> [Samples] {
    let finger = VirtualStorageReader(socket: "\(folder)/passkey-reader-\(count)")
    let scratch = try await ScratchVault(
      at: "\(folder)/passkeys-\(count)", reader: .virtualStorage(socket: finger.socket))
    let vault = scratch.service
    let person = Toucher(recoveryKey: scratch.recoveryKey) { _ in try finger.scan("right-index") }
    _ = try await person.with(vault) { try await vault.enroll(.rightIndex, $0) }
    for number in 1...count { try await add(number, to: vault) }
    var looks = Samples(name: "getInfo's call, \(count) passkeys")
    var searches = Samples(name: "the passkeys of a site, \(count) passkeys")
    var signatures = Samples(name: "match to signature, \(count) passkeys")
    let key = try SecurityKeyClient(
      at: "\(folder)/fido-\(count)", of: SecretStore(service: vault)
    ) { try finger.scan("right-index") }
    var infos = Samples(name: "getInfo at the socket, \(count) passkeys")
    var answers = Samples(name: "match to answer at the socket, \(count) passkeys")
    var others = Samples(name: "\(SoftwareAuthenticator.name), an assertion, beside \(count) passkeys")
    let search = ItemSearch(.passkey, [.relyingParty: .text("site-1.example")], groups: .all, synchronizable: .any)
    let assertion = PasskeyAssertion(clientDataHash: Array(repeating: 7, count: 32))
    // The first round warms up the caches, and is discarded.
    for round in 0...rounds {
      // A sign-in counts its touch in the store. Leave out the first look after it, which counts the passkeys again.
      _ = try await vault.passkeyReadiness()
      try await looks.take { _ = try await vault.passkeyReadiness() }
      try infos.take { try key.information() }
      var found: [ItemID] = []
      try await searches.take { found = try await vault.items(search, .nobody).items.map(\.id) }
      let ids = found
      guard ids.count == 1 else { throw BenchFailure("the passkey of the site is not found") }
      let nanoseconds = try await person.with(vault) { asking in
        _ = try await vault.assertPasskeys(ids, assertion, asking)
        return ScanClock.now() - person.matchedAt
      }
      signatures.nanoseconds.append(nanoseconds)
      answers.nanoseconds.append(try key.signIn(to: "site-1.example"))
      if let software { others.nanoseconds.append(try software.assertion()) }
      guard round == 0 else { continue }
      looks.nanoseconds = []
      searches.nanoseconds = []
      signatures.nanoseconds = []
      infos.nanoseconds = []
      answers.nanoseconds = []
      others.nanoseconds = []
    }
    await scratch.close()
    return [looks, searches, signatures, infos, answers] + (software == nil ? [] : [others])
  }

  /// Adds one as an import does.
  private func add(_ number: Int, to vault: any VaultService) async throws {
    let passkey = NewPasskey(
      relyingParty: "site-\(number).example", user: Passkey.User(handle: [1], name: "alice", displayName: ""),
      isDiscoverable: true, clientDataHash: [])
    let id = try Random.bytes(32)
    let item = NewItem(.passkey, passkey.attributes(credentialID: id, publicKey: []), access: passkey.access)
    let moving = MovingPasskey(
      secretKey: SharedSecret(SecretBytes(count: MovingPasskey.secretKeyCount)),
      key: SharedSecret(try PrivateKey.generate(.ec(.p256)).pkcs8()))
    _ = try await vault.addKey(item, from: .passkey(SharedSecret(moving.bytes)))
  }
}
