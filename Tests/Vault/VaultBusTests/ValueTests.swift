import Primitives
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import VaultBus

/// Values must be the same after being sent over the bus. Those that are not equatable are compared by their
/// descriptions.
@Suite("Values that are transferred over the vault's interface")
struct ValueTests {
  private func connect(_ calls: StubVault.Calls) async throws -> any VaultService {
    try await Way.overSocket.connect(to: StubVault(calls)).open(StorePlace(directory: "/"))
  }

  private static let usb = ReaderDescription(
    id: "synaptics:1-9", name: "Prometheus",
    identity: ReaderIdentity(driver: "synaptics", vendor: 0x06CB, product: 0xBD, serial: "c087", fixedPort: "1-9"),
    scanType: .press, enrollStages: 8, features: [.storage], temperature: .hot, nature: .physical)
  private static let virtual = ReaderDescription(
    id: "virtual_image:0", name: "Virtual", identity: ReaderIdentity(driver: "virtual_image"), scanType: .swipe,
    enrollStages: 5, features: [], temperature: .cold, nature: .virtual)
  private static let name = ItemName(unchecked: "mail\u{FFFE}", account: "alice")

  @Test("every event is transferred over the vault's interface, with its number")
  func events() async throws {
    var told: [AuthenticationEvent] = [.fingerPresent(true), .fingerPresent(false), .noMatch(remaining: 2), .matched]
    told += [RetryReason.general, .tooShort, .centerFinger, .removeFinger, .tooFast].map { .retry($0) }
    told += [.enrolmentStage(completed: 1, of: 5), .fingerUnavailable(.reader(.busy(holder: "fprintd")))]
    for purpose: TouchRequest.Purpose in [
      .read(items: [Self.name], reason: "send \u{FFFE}"), .read(items: [], reason: nil), .evaluate(reason: "x"),
      .evaluate(reason: nil), .enroll(.leftThumb), .confirm(.rightLittle),
    ] {
      told.append(.touchWanted(TouchRequest(purpose: purpose, reader: Self.usb, passcodeInstead: true)))
      told.append(
        .touchWanted(TouchRequest(purpose: purpose, reader: Self.virtual, passcodeInstead: false, awaitsPrompt: true)))
      told.append(
        .touchWanted(TouchRequest(purpose: purpose, reader: Self.usb, passcodeInstead: true, isOnlyReader: true)))
    }
    told += [.passcode(attempt: 3), .newPasscode, .recoveryKey, .applicationPassword(Self.name)].map {
      .secretWanted($0)
    }
    told += [
      .unknownPrintsOnChip(4), .goneFromChip([.leftRing]), .changedElsewhere([.leftIndex], lost: [Self.name]),
      .leftOnChip(.rightThumb, .permissionDenied("x")), .passcodeDelay(30), .unanswered,
      .readerInUse(.anotherUser), .readerInUse(.otherVault), .rejected(by: nil), .rejected(by: "mail"),
      .readerInUse(.program(nil, items: [])),
      .readerInUse(.program("mail", items: [Self.name])),
    ].map { .notice($0) }
    let stub = StubVault()
    let vault = try await Way.overSocket.connect(to: stub).open(StorePlace(directory: "/"))
    let (handle, events) = try await vault.openContext(ContextOptions())
    for event in told { stub.yield(event) }
    await vault.closeContext(handle, reason: .program)
    var heard: [NumberedEvent] = []
    for await event in events { heard.append(event) }
    #expect(heard.map { "\($0.event)" } == told.map { "\($0)" })
    #expect(heard.map(\.number) == Array(1...told.count))
  }

  @Test("searches and findings of the Secret Service are transferred over the vault's interface")
  func secretService() throws {
    for (collection, after) in [(nil, nil), ("login", ItemCursor(bytes: [1]))] as [(String?, ItemCursor?)] {
      let search = SecretServiceSearch(["a": "", "": "\u{FFFE}"], in: collection, after: after)
      let read = try SecretServiceSearch(bus: search.busValue)
      #expect(read.attributes == search.attributes && read.collection == collection && read.after == after)
    }
    let secrets = [
      FoundSecret(
        id: ItemID(bytes: [1, 2]), collection: "login", name: "a", access: AccessControl(.currentSet), grant: .session),
      FoundSecret(id: ItemID(bytes: []), collection: "", name: "", access: .none, grant: .brief),
    ]
    for found in [
      FoundSecrets(secrets, next: ItemCursor(bytes: [7]), isLocked: true), FoundSecrets(isLocked: false),
    ] { #expect(try FoundSecrets(bus: found.busValues()) == found) }
  }

  @Test("a search of the Secret Service that is cut off, or names an attribute twice, is refused")
  func brokenSecretService() throws {
    let search = SecretServiceSearch(["a": "b"], in: nil, after: nil).busValue.asBytes ?? []
    #expect(throws: (any Error).self) { try SecretServiceSearch(bus: .bytes(search.dropLast())) }
    let twice = search + search.suffix(12)
    #expect(throws: (any Error).self) { try SecretServiceSearch(bus: .bytes(twice)) }
  }

  @Test("every search is transferred over the vault's interface")
  func searches() async throws {
    var full = ItemSearch(
      .internetPassword, [.server: .text("a"), .port: .number(443), .creator: .bytes([1]), .startDate: .date(0.5)],
      groups: .named(["mine", "\u{FFFE}"]), ids: [ItemID(bytes: [1, 2]), ItemID(bytes: [])], synchronizable: .any,
      ignoresCase: true, limit: 7, pattern: "m*", states: [.dead, .damaged])
    full.created = 1.25
    full.modified = -2
    full.interaction = .skip
    full.after = ItemCursor(bytes: [9])
    var searches = [full, ItemSearch(), .everything, ItemSearch(groups: .named([])), ItemSearch(ids: [])]
    searches += [.yes, .no].map { ItemSearch(synchronizable: $0, limit: 0, states: []) }
    let seen = Mutex<[ItemSearch]>([])
    let vault = try await connect(
      .init(items: { search throws(VaultError) in
        seen.withLock { $0.append(search) }
        return ItemPage(items: [], next: search.after)
      }))
    for search in searches {
      let page = try await vault.items(search, .nobody)
      #expect(page.next == search.after)
    }
    #expect(seen.withLock { $0 } == searches)
  }

  @Test("every log entry and log request is transferred over the vault's interface")
  func log() async throws {
    let outcomes: [AuditEntry.Outcome] = [.done, .rejected] + VaultErrorName.allCases.map { .failed($0) }
    var entries = outcomes.map { outcome in
      AuditEntry(time: -5, program: nil, process: nil, request: .lock, outcome: outcome)
    }
    entries += AuditEntry.Request.allCases.map { request in
      AuditEntry(
        number: 7, time: .max, program: "mail \u{FFFE}", process: 99, behalf: "/usr/bin/mail", request: request,
        items: [ItemID(bytes: [1, 2]), ItemID(bytes: [3])], prompts: AuditEntry.Prompt.allCases, wrongPasscodes: 1,
        unmatchedTouches: 2, isSetChanged: true, outcome: .done, omitted: 3)
    }
    var search = AuditSearch()
    (search.after, search.since, search.last) = (4, -1, 12)
    let (wanted, told) = (search, entries)
    let vault = try await connect(
      .init(log: { search throws(VaultError) in
        guard search == wanted else { throw .invalidRequest("another search") }
        return told
      }))
    #expect(try await vault.log(search) == entries)
  }

  @Test("item changes, proofs, fingers, adapters and unlock rules are transferred over the vault's interface")
  func requests() async throws {
    let seen = Mutex<[String]>([])
    let note: @Sendable (Any) -> Void = { value in seen.withLock { $0.append("\(value)") } }
    let change = SetChange(
      finger: .leftThumb, fingers: [EnrolledFinger(finger: .leftThumb, onChip: true, enrolled: .max)], lost: [Self.name]
    )
    let changes = Mutex<[ItemChange]>([])
    let vault = try await connect(
      .init(
        update: { change in changes.withLock { $0.append(change) } },
        evaluate: { proof in
          note(proof)
          return proof == .policy(.biometrics) ? nil : [1, 2]
        },
        enroll: { finger in
          note(finger as Any)
          return change
        }, setFirstUnlock: { note($0) }, useAdapter: { note($0 as Any) }))
    let asked: [ItemChange] = [
      ItemChange(), ItemChange(attributes: [.label: nil, .account: .text("a")], accessibility: .passcodeSet),
      ItemChange(access: try AccessControl([.or, .biometryAny, .devicePasscode])),
    ]
    for change in asked { #expect(try await vault.update(.ids([]), change, secret: nil, .nobody) == -1) }
    #expect(changes.withLock { $0 } == asked)
    let proofs: [Proof] = [.policy(.biometrics), .policy(.deviceOwner), .access(AccessControl(.currentSet))]
    for proof in proofs {
      #expect(try await vault.evaluate(proof, .nobody) == (proof == .policy(.biometrics) ? nil : [1, 2]))
    }
    #expect("\(try await vault.enroll(.rightRing, .nobody))" == "\(change)")
    #expect("\(try await vault.unenroll(nil, .nobody))" == "\(change)")
    for adapter: ReaderAdapter? in [.fprintd, .libfprint, nil] { try await vault.useAdapter(adapter, .nobody) }
    for rule in FirstUnlock.allCases { try await vault.setFirstUnlock(rule, .nobody) }
    #expect(
      seen.withLock { $0 } == proofs.map { "\($0)" }
        + [Finger?.some(.rightRing), nil].map { "\($0 as Any)" }
        + [ReaderAdapter?.some(.fprintd), .libfprint, nil].map { "\($0 as Any)" }
        + FirstUnlock.allCases.map { "\($0)" })
  }

  @Test("every use of a key is transferred over the vault's interface, with the context and who asks")
  func keyUses() async throws {
    var uses: [KeyUse] = [.export, .oneTimeCode, .exchange(with: [4], .ecdh, size: 0, sharedInfo: [])]
    var signatures: [SignatureScheme] = [.rsaRaw, .rsaPKCS1Raw]
    var encryptions: [EncryptionScheme] = [.rsaRaw, .rsaPKCS1, .ageX25519]
    for hash in HashFunction.allCases {
      for input: SignatureScheme.Input in [.message, .digest] {
        signatures += [.rsaPKCS1(hash, input), .rsaPSS(hash, input)]
        signatures += [.ecdsa(hash, input, .x962), .ecdsa(hash, input, .rfc4754)]
      }
      encryptions += [.rsaOAEP(hash), .rsaOAEPAESGCM(hash), .ecies(hash, .zero), .ecies(hash, .derived)]
      uses.append(.exchange(with: [], .ecdhX963(hash), size: 32, sharedInfo: [1, 2]))
    }
    signatures += [.ecdsaDigest(.x962), .ecdsaDigest(.rfc4754), .ed25519]
    uses += signatures.map { .sign([1, 2, 3], $0) } + encryptions.map { .decrypt([], $0) }
    var options = ContextOptions(
      interactionNotAllowed: true, timeout: .milliseconds(1_500), preferPasscode: true, passcodeSupplied: true)
    options.fallback = .callersAfterNoMatch
    options.keepsEvidence = true
    options.reuseDuration = .seconds(300)
    let asked = Asking(
      in: ContextHandle(bytes: [1]), options: options, reason: "a reason \u{0} that D-Bus strings cannot hold",
      behalf: "/usr/bin/a “b” \u{FFFE}")
    let seen = Mutex<[String]>([])
    let vault = try await connect(
      .init(useKey: { use, asking in seen.withLock { $0.append("\(use) \(asking)") } }))
    for use in uses { #expect(try await vault.useKey(ItemID(bytes: []), use, asked).count == 6) }
    #expect(seen.withLock { $0 } == uses.map { "\($0) \(asked)" })
    var endless = ContextOptions(timeout: nil)
    endless.fallback = .afterNoMatch
    endless.reuseDuration = .seconds(Int64.max)
    _ = try await vault.useKey(ItemID(bytes: []), .export, Asking(in: nil, options: endless))
    endless.reuseDuration = .nanoseconds(Int64.max)
    #expect(seen.withLock { $0.last } == "\(KeyUse.export) \(Asking(in: nil, options: endless))")
  }

  @Test("wrongly formed passkeys, assertions and signatures are refused by the vault's interface")
  func wrongPasskeys() throws {
    let hash = [UInt8](repeating: 3, count: 32)
    func request(_ key: Int, _ salts: Int) -> PasskeySecretRequest {
      PasskeySecretRequest(
        encryption: .protocolOne, key: SharedSecret(SecretBytes(count: key)),
        salts: SharedSecret(SecretBytes(count: salts)))
    }
    let plain = PasskeyAssertion(clientDataHash: hash)
    let secret = PasskeyAssertion(clientDataHash: hash, secretRequest: request(32, 64))
    #expect(throws: Never.self) { try PasskeyAssertion(bus: plain.busValues()) }
    #expect(throws: Never.self) { try PasskeyAssertion(bus: secret.busValues()) }
    for (value, secrets) in [(plain, secret), (secret, plain)] {
      #expect(throws: BusValueError.self) {
        try PasskeyAssertion(bus: [value.busValues()[0], secrets.busValues()[1]])
      }
    }
    for (key, salts) in [(33, 64), (32, 65)] {
      let long = PasskeyAssertion(clientDataHash: hash, secretRequest: request(key, salts))
      #expect(throws: VaultError.self) { try PasskeyAssertion(bus: long.busValues()) }
    }
    func extended(_ value: BusValue) throws -> BusValue {
      guard case .dictionary(var entries) = value else { throw VaultError.timedOut }
      entries["unknown"] = .string("x")
      return .dictionary(entries)
    }
    let user = Passkey.User(handle: [1], name: "", displayName: "")
    let new = NewPasskey(relyingParty: "example.com", user: user, isDiscoverable: true, clientDataHash: hash)
    let readiness = PasskeyReadiness(capacity: 1, hasFinger: true)
    #expect(throws: Never.self) { try NewPasskey(bus: new.busValue) }
    #expect(throws: BusValueError.self) { try NewPasskey(bus: try extended(new.busValue)) }
    // An answer, of a newer vault.
    #expect(try PasskeyReadiness(bus: try extended(readiness.busValue)) == readiness)
    let values = try plain.busValues()
    #expect(throws: BusValueError.self) { try PasskeyAssertion(bus: [try extended(values[0]), values[1]]) }
    let parts: [BusValue] = [.bytes([1]), .bytes([2]), .bytes([3])]
    #expect(throws: BusValueError.self) { try SignedCeremony(bus: .structure(parts)) }
  }

  @Test("passkeys, their assertions and signatures are transferred over the vault's interface")
  func passkeys() async throws {
    let user = Passkey.User(handle: [1, 2], name: "alice", displayName: "Alice Müller")
    let hash = [UInt8](repeating: 3, count: 32)
    let passkeys = [
      NewPasskey(relyingParty: "example.com", user: user, isDiscoverable: true, clientDataHash: hash),
      NewPasskey(
        relyingParty: "ssh:", relyingPartyName: "SSH", user: user, algorithm: .ed25519, isDiscoverable: false,
        protection: .required, repliesWithProtection: true, hasSecret: true, blob: [9], clientDataHash: hash,
        access: AccessControl(.currentSet)),
    ]
    let item = Item(
      id: ItemID(bytes: Array(repeating: 7, count: 16)), state: .living, itemClass: .passkey,
      attributes: [.relyingParty: .text("example.com")], access: AccessControl(.anyFinger),
      accessibility: .whenUnlocked, created: 1, modified: 2)
    let signed = SignedCeremony(authenticatorData: [1, 2, 3], signature: [4, 5])
    let made = Mutex<[NewPasskey]>([])
    let asserted = Mutex<[PasskeyAssertion]>([])
    let vault = try await connect(
      .init(
        makePasskey: { passkey in
          made.withLock { $0.append(passkey) }
          return (item, signed)
        },
        assertPasskey: { assertion in
          asserted.withLock { $0.append(assertion) }
          return signed
        }, readiness: PasskeyReadiness(capacity: 7, hasFinger: true)))
    #expect(try await vault.passkeyReadiness() == PasskeyReadiness(capacity: 7, hasFinger: true))
    for passkey in passkeys { #expect(try await vault.makePasskey(passkey, .nobody) == (item, signed)) }
    #expect(made.withLock { $0 } == passkeys)
    let request = PasskeySecretRequest(
      encryption: .protocolTwo, key: SharedSecret(SecretBytes(text: "key")),
      salts: SharedSecret(SecretBytes(text: "salt")))
    for assertion in [
      PasskeyAssertion(clientDataHash: hash),
      PasskeyAssertion(clientDataHash: hash, secretRequest: request, wantsBlob: true),
    ] {
      #expect(try await vault.assertPasskeys([item.id, item.id], assertion, .nobody) == [signed, signed])
    }
    let last = try #require(asserted.withLock { $0.last })
    #expect(last.clientDataHash == hash && last.wantsBlob && last.secretRequest?.encryption == .protocolTwo)
    #expect(last.secretRequest?.key.bytes.text == "key" && last.secretRequest?.salts.bytes.text == "salt")
    #expect(asserted.withLock { $0.first?.secretRequest == nil })
  }

  @Test("sync calls about other machines are transferred over the vault's interface")
  func otherMachines() async throws {
    let id = try #require(MemberID(String(repeating: "0a", count: 16)))
    let member = SyncMember(
      id: id, name: "desk\u{FFFE}", isThisMachine: true, words: ["acorn", "actor"], tier: .tpm, hasPasscode: true,
      hasAgreed: true)
    let status = SyncStatus(
      standing: .asking, circle: "0a", members: [member], candidates: [member], words: ["acorn"], hasAgreed: true,
      unconfirmed: [.init(by: "desk", added: ["lap"], removed: ["attic"])], isLocked: true, isForked: true, items: 1,
      pending: 2,
      waiting: [.init(item: Self.name, reason: .locked)],
      kept: [.init(id: "0b", item: Self.name, writer: "lap", written: 3.5)], lost: 4)
    let receipt = SyncReceipt(
      changed: [Self.name], removed: [Self.name], kept: [Self.name], refused: [.init(path: "x", reason: "y")],
      wentBack: true, isMixed: true)
    let files = [SyncFile("circle/00000001", [1, 2, 3]), SyncFile("items/aa", nil), SyncFile("format", [])]
    let called = Mutex<[String]>([])
    let stub = StubSync(
      known: status, receipt: receipt, batch: SyncBatch(files: files, next: "0c"),
      called: { call in called.withLock { $0.append(call) } })
    let vault = try await connect(.init(sync: stub)).sync
    #expect(try await vault.status() == status)
    #expect(try await vault.receive(files, isLast: true) == receipt)
    #expect(try await vault.files(after: nil, puttingBack: false) == stub.batch)
    #expect(try await vault.files(after: "0d", puttingBack: true) == stub.batch)
    #expect(try await vault.change(from: 7) == 8)
    let beginnings = [SyncBeginning.new(machine: "desk"), .join(machine: "lap", records: files)]
    for beginning in beginnings { try await vault.begin(beginning, .nobody) }
    try await vault.recover(machine: "lap", records: files, recoveryKey: SecretBytes(text: "key"), .nobody)
    #expect(
      try await vault.identity(records: files, recoveryKey: SecretBytes(text: "key")).text == "\(files) key")
    let changes = [
      SyncMemberChange.answer(id), .agree, .approve(id, replacing: nil), .approve(id, replacing: id), .refuse(id),
      .remove(id), .confirm, .reject, .leave,
    ]
    for change in changes { try await vault.change(change, .nobody) }
    let resolutions = [SyncResolution.use(kept: "0b"), .drop(kept: "0b"), .bind(Self.name), .open]
    for resolution in resolutions { try await vault.resolve(resolution, .nobody) }
    let expected =
      ["\(files) true", "nil false", "0d true"] + beginnings.map { "\($0)" } + ["lap \(files) key"]
      + changes.map { "\($0)" } + resolutions.map { "\($0)" }
    #expect(called.withLock { $0 } == expected)
  }

  @Test("the name of a program for which another program asks is refused if it is long or has two lines")
  func behalf() async throws {
    let vault = try await connect(.init(useKey: { _, _ in }))
    for name in ["a\nb", String(repeating: "x", count: 1_025)] {
      await #expect {
        _ = try await vault.useKey(ItemID(bytes: []), .export, Asking(in: nil, behalf: name))
      } throws: {
        if case .invalidRequest = $0 as? VaultError { true } else { false }
      }
    }
  }

  @Test("the vault's state is transferred over its interface")
  func answers() async throws {
    let set = SetStatus(
      reader: Self.usb.identity, nature: .replayed,
      fingers: [EnrolledFinger(finger: .leftLittle, onChip: false, enrolled: -1)], digest: [1, 2], boundItems: 3)
    let status = VaultStatus(
      directory: "/home/\u{FFFE}", tier: .keyFile, passcodeSet: true, failures: 4, lockedOut: true, passcodeDelay: 30,
      restore: .recoveryKeyAndNewPasscode, items: 5, sets: [set], damagedSets: 1, adapter: .fprintd,
      firstUnlock: .passcode, openClasses: [.afterFirstUnlock], passcodeDeadline: 7, registers: [0, 7, 15])
    let restore = DetectedRestore(
      id: DetectedRestore.ID(digest: [7]), acceptance: .passcode, sets: [set], fingersAreForgotten: true,
      items: [Self.name], lost: [])
    let biometry = Biometry(
      hasReader: true, problem: .printsGone([.leftRing]), state: [5], passcodeSet: false, isOutOfReach: true)
    let readers = ReaderList(readers: [Self.usb, Self.virtual], chosen: nil, problem: .notEnrolled)
    let vault = try await connect(
      .init(
        biometry: biometry, readers: readers, status: status, restore: restore,
        problems: [.storeDamaged("x"), .itemDamaged(nil)]))
    #expect("\(try await vault.status())" == "\(status)")
    #expect(try await vault.openClasses() == [.afterFirstUnlock])
    #expect(try await vault.unlockChange(from: true) == false)
    let surroundings = try await vault.surroundings(otherThan: nil)
    #expect(surroundings == Surroundings(changes: 1, locks: 2, refusal: .lidClosed))
    #expect(try await vault.surroundings(otherThan: surroundings).locks == 4)
    #expect(try await vault.detectedRestore().map { "\($0)" } == "\(restore)")
    #expect("\(try await vault.biometry())" == "\(biometry)")
    #expect("\(try await vault.presentSets())" == "\([set])")
    #expect("\(try await vault.readers())" == "\(readers)")
    #expect(try await vault.problems() == [.storeDamaged("x"), .itemDamaged(nil)])
    let least = VaultStatus(
      directory: "", tier: .keyFile, passcodeSet: false, failures: 0, lockedOut: false, passcodeDelay: 0, restore: nil,
      items: 0, sets: [], damagedSets: 0)
    let empty = try await connect(
      .init(
        biometry: Biometry(hasReader: false, problem: nil, state: nil, passcodeSet: false),
        readers: ReaderList(readers: [], chosen: Self.virtual, problem: nil), status: least))
    #expect("\(try await empty.status())" == "\(least)")
    #expect(try await empty.detectedRestore() == nil)
    #expect(try await empty.biometry().state == nil)
    #expect(try await empty.readers().chosen == Self.virtual)
    #expect(try await empty.problems().isEmpty)
  }

  @Test(
    "the place of a store is transferred over the vault's interface",
    arguments: [
      ReaderSelection.automatic, .fprintd(device: nil), .fprintd(device: "x:y"), .libfprint(device: nil),
      .libfprint(device: "1"), .virtualImage(socket: "/tmp/\u{FFFE}"), .virtualStorage(socket: "s"),
      .replay(directory: "/r"),
    ])
  func places(_ reader: ReaderSelection) async throws {
    let place = StorePlace(
      directory: "/a/\u{FFFE}", reader: reader, readerProgram: "/b", fprintd: FprintdPlace(bus: "c", templates: "d"))
    let seen = PlaceRecorder()
    let connection = try Way.overSocket.connect(to: seen)
    for place in [place, StorePlace(directory: "/a", reader: reader), .own] {
      await #expect(throws: VaultError.storeNotFound("\(place)")) { _ = try await connection.open(place) }
    }
    await connection.close()
  }
}

/// Throws an error with the place that it was asked to open.
private final class PlaceRecorder: VaultConnection {
  func open(_ place: StorePlace) async throws(VaultError) -> any VaultService { throw .storeNotFound("\(place)") }
  func create(
    _: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft { throw StubVault.unused }
  func keep(_: StoreDraft.ID) async throws(VaultError) { throw StubVault.unused }
  func rebuildDeviceKey(at: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError) {
    throw StubVault.unused
  }
  func openCopy(_: SealedCopy, with _: consuming SealedCopy.Opening) async throws(VaultError) -> SecretBytes {
    throw StubVault.unused
  }
  func makeStore(
    at: StorePlace, ofBackup: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) -> [ItemName] {
    throw StubVault.unused
  }
  func lendReader() async throws(VaultError) -> ReaderSocket { throw StubVault.unused }
  func walletKey(from _: consuming SecretBytes, salt _: [UInt8]) async throws(VaultError) -> SecretBytes {
    throw StubVault.unused
  }
  func encryptFile(from _: Int32, to _: Int32, for _: EncryptedFile.Recipient) async throws(VaultError) {
    throw StubVault.unused
  }
  func fileKey(of _: Int32, with _: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes {
    throw StubVault.unused
  }
  func decryptFile(_: Int32, with _: consuming SecretBytes, to _: Int32) async throws(VaultError) {
    throw StubVault.unused
  }
  func wrapFileKey(_: consuming SecretBytes, to _: AgePublicKey) async throws(VaultError) -> [UInt8] {
    throw StubVault.unused
  }
  func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair { throw StubVault.unused }
  func close() async {}
}
