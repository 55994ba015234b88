import Glibc
import Presence
import Primitives
import ProgramDriver
import ReaderClient
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger

/// A store with fingers and items of each access class. Its reader is truthful until told to lie.
final class LyingStore: Sendable {
  /// The virtual reader behind the lies: one of libfprint's, or fprintd's over the one with images.
  enum Kind: String, CaseIterable { case image, chip, fprintd }

  /// An item for each access class, with its name as its secret.
  static let items: [String: AccessControl.Flags] = [
    "none": [], "presence": .userPresence, "any finger": .biometryAny, "current set": .biometryCurrentSet,
    "passcode": .devicePasscode, "either": [.biometryCurrentSet, .devicePasscode, .or],
    "both": [.biometryCurrentSet, .devicePasscode, .and], "password": [.biometryAny, .applicationPassword],
  ]
  static let password = "an application password"
  /// The items that end with the enrolment set.
  static let bound: Set<String> = ["current set", "both"]

  let kind: Kind
  let store: ScratchStore
  let reader: LyingReader
  private let real: ReaderProcess
  private let sensor: String
  private let selection: ReaderSelection
  private let fprintd: PrivateFprintd?

  /// Runs the body with a store that has the items and fingers, and a reader with recorded answers about them.
  static func with(_ kind: Kind, _ body: (LyingStore) async throws -> Void) async throws {
    func run(_ fprintd: PrivateFprintd?) async throws {
      let store = try await LyingStore(kind, fprintd)
      try await body(store)
      store.reader.end()
      await store.real.shutdown()
    }
    switch kind {
    case .image, .chip: try await run(nil)
    case .fprintd: try await PrivateFprintd.with(.image) { try await run($0) }
    }
  }

  private init(_ kind: Kind, _ fprintd: PrivateFprintd?) async throws {
    self.kind = kind
    self.fprintd = fprintd
    store = try await ScratchStore()
    sensor = fprintd?.socket ?? store.folder + "/sensor"
    selection =
      switch kind {
      case .image: .virtualImage(socket: sensor)
      case .chip: .virtualStorage(socket: sensor)
      case .fprintd: .fprintd(device: nil)
      }
    let place = fprintd.map { FprintdPlace(bus: $0.bus, templates: $0.templates) } ?? .system
    real = ReaderProcess(program: ReaderBuild.program, selection: selection, fprintd: place)
    reader = try LyingReader(at: store.folder + "/unit", real: real, holdsReader: kind == .chip)
    if let fprintd { try await enroll(in: fprintd) } else { try await enroll() }
  }

  /// Enrols two fingers, adds the items, and records what a reader says about the touches of a person.
  private func enroll() async throws {
    try await connected { vault in
      for finger in [Finger.rightIndex, .leftIndex, .leftThumb] { _ = try await self.enroll(finger, in: vault) }
      try await self.addItems(in: vault)
      for touches in [
        [self.touch(.rightIndex)], [self.touch(.rightRing), self.touch(.leftIndex)],
        [self.retry(), self.touch(.leftIndex)],
      ] {
        let read = try await self.read("any finger", in: vault, by: Person(touches: touches))
        #expect(read == "any finger")
      }
      _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { handle in
        try await vault.unenroll(.leftThumb, Asking(in: handle))
      }
      try await self.addItems(in: vault)
      _ = try await vault.biometry()
    }
  }

  /// The same with fprintd's own enrolment, with prints added and removed; also records its answers for another user.
  private func enroll(in fprintd: PrivateFprintd) async throws {
    // No finger at all.
    try await connected { _ = try await $0.biometry() }
    let mine = SyntheticFinger(person: 1, finger: .rightIndex)
    try await patiently { try await fprintd.enroll("right-index-finger", pressing: mine) }
    for (name, finger) in [("left-index-finger", Finger.leftIndex), (nil, .rightIndex)] {
      if let name {
        try await patiently {
          try await fprintd.enroll(name, pressing: SyntheticFinger(person: 1, finger: .leftIndex))
        }
      } else {
        try await patiently { try await fprintd.delete("left-index-finger") }
      }
      try await connected { vault in
        try await self.addItems(in: vault)
        for touches in [
          [self.touch(finger)], [self.touch(.rightRing), self.touch(finger)], [self.retry(), self.touch(finger)],
        ] {
          let read = try await self.read("any finger", in: vault, touches: touches)
          #expect(read == "any finger")
        }
        _ = try await vault.biometry()
      }
    }
    let theirs = SyntheticFinger(person: 3, finger: .rightThumb)
    try await patiently { try await fprintd.enroll("right-thumb", of: "nobody", pressing: theirs) }
    let process = process(answersWithin: ReaderProcess.answerLimit)
    let user = try #require(ReaderUser(name: "nobody"))
    let device = try #require(try await process.readers().first)
    _ = try await process.open(device.id, for: user)
    let prints = try await process.storedPrints(knowing: []).unknown.map {
      EnrolledPrint(id: EnrolmentID(bytes: [9]), template: $0)
    }
    let nonce = ScanNonce(bytes: [UInt8](repeating: 1, count: 32))
    let answer = try await process.identify(prints, nonce: nonce) { event in
      guard event == .fingerNeeded else { return }
      Task { try VirtualImageReader(socket: fprintd.socket).press(theirs.impression(9)) }
    }
    #expect(answer.outcome == .match(EnrolmentID(bytes: [9])))
    await process.shutdown()
  }

  /// Tries several times, since the previous request may still have claimed fprintd's reader.
  private func patiently(_ body: () async throws -> Void) async throws {
    for _ in 1...20 {
      do { return try await body() } catch { try await Task.sleep(for: .milliseconds(100)) }
    }
    try await body()
  }

  /// Adds the items again with the truthful reader, after lies have ended those that are bound.
  func renew(in vault: any VaultService) async throws {
    try await reader.truthfully {
      try await patiently {
        if try await vault.status().lockedOut {
          try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
        }
        try await addItems(in: vault)
      }
    }
  }

  /// Runs the body with a connection to a vault of the store, which gives its reader this long for an answer.
  func connected(
    answersWithin limit: Duration = ReaderProcess.answerLimit, _ body: (any VaultService) async throws -> Void
  ) async throws {
    let process = process(answersWithin: limit)
    let (mine, theirs) = try socketPair()
    // The private fprintd counts as the machine's own, whose fingers are followed without the passcode.
    let scratch = ScratchConnection(
      to: store, reader: kind == .fprintd ? InterposedReader.physical(process) : process)
    let server = try VaultBusServer(socket: theirs, connection: scratch, onClosed: {})
    let client = try VaultBusClient(socket: mine)
    do {
      try await body(try await client.open(scratch.place))
    } catch {
      await process.shutdown()
      throw error
    }
    await client.close()
    server.close()
    await process.shutdown()
  }

  /// The reader as a vault has it.
  private func process(answersWithin limit: Duration) -> ReaderProcess {
    let place = fprintd.map { FprintdPlace(bus: $0.bus, templates: $0.templates) } ?? .system
    return ReaderProcess(
      unit: reader.path, selection: selection, fprintd: place, maker: getuid(), answersWithin: limit)
  }

  /// Adds the items, in place of earlier ones.
  func addItems(in vault: any VaultService) async throws {
    let person = Person(passcodes: [ScratchStore.passcode], applicationPassword: Self.password)
    for (name, flags) in Self.items {
      let item = NewItem(.genericPassword, [.service: .text(name)], access: try AccessControl(flags))
      _ = try await person.with(vault) { handle in
        try await vault.add(item, secret: SecretBytes(text: name), replacing: true, Asking(in: handle))
      }
    }
  }

  /// Reads an item while the reader tells the truth. Tries again where a synthetic finger was gone before fprintd looked.
  func read(
    _ name: String, in vault: any VaultService, touches: [@Sendable () async throws -> Void]
  ) async throws -> String? {
    func attempt() async throws -> String? {
      try await read(
        name, in: vault,
        by: Person(passcodes: [ScratchStore.passcode], applicationPassword: Self.password, touches: touches))
    }
    do { return try await attempt() } catch VaultError.timedOut { return try await attempt() }
  }

  func read(
    _ name: String, in vault: any VaultService, _ options: ContextOptions = ContextOptions(timeout: .seconds(20)),
    by person: Person
  ) async throws -> String? {
    let name = try ItemName(service: name)
    return try await person.with(vault, options) { handle in
      try await vault.secrets(.names([name]), Asking(in: handle)).first?.text
    }
  }

  // MARK: The person

  func enroll(_ finger: Finger, in vault: any VaultService) async throws -> SetChange {
    // The chip asks once and takes five scans.
    let stages: @Sendable () async throws -> Void = { [sensor] in
      for _ in 1...5 { try Self.scan(finger, sensor) }
    }
    let touches =
      switch kind {
      case .image, .fprintd: (1...6).map { _ in touch(finger) }
      case .chip: [stages, touch(finger)]
      }
    return try await Person(passcodes: [ScratchStore.passcode], touches: touches).with(vault) { handle in
      try await vault.enroll(finger, Asking(in: handle))
    }
  }

  func touch(_ finger: Finger) -> @Sendable () async throws -> Void {
    { [kind, sensor] in
      switch kind {
      case .image, .fprintd:
        let image = SyntheticFinger(person: 1, finger: finger).impression(.random(in: 1...1_000_000))
        try VirtualImageReader(socket: sensor).press(image)
      case .chip: try Self.scan(finger, sensor)
      }
    }
  }

  private func retry() -> @Sendable () async throws -> Void {
    { [kind, sensor] in
      switch kind {
      case .image, .fprintd: try VirtualImageReader(socket: sensor).retry(.general)
      case .chip: try VirtualStorageReader(socket: sensor).retry(.general)
      }
    }
  }

  private static func scan(_ finger: Finger, _ sensor: String) throws {
    try VirtualStorageReader(socket: sensor).scan(finger.rawValue)
  }
}
