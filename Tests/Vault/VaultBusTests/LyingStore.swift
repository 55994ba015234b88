import Fingerprint
import Glibc
import ReaderClient
import SecretModel
import SecureMemory
import Testing
import Vault
import VaultBus
import VaultDriver
import VirtualFinger

/// A store with fingers and items of each access class, whose reader tells the truth until it is to lie.
final class LyingStore: Sendable {
  /// The virtual reader behind the lies.
  enum Kind: String, CaseIterable { case image, chip }

  /// An item for each access class, with its name as its secret.
  static let items: [String: AccessControl.Flags] = [
    "none": [], "presence": .userPresence, "any finger": .biometryAny, "current set": .biometryCurrentSet,
    "passcode": .devicePasscode, "either": [.biometryCurrentSet, .devicePasscode, .or],
    "both": [.biometryCurrentSet, .devicePasscode, .and], "password": [.biometryAny, .applicationPassword],
  ]
  static let password = "an application password"

  let kind: Kind
  let store: ScratchStore
  let reader: LyingReader
  private let real: ReaderProcess
  private let sensor: String

  /// Enrols two fingers, adds the items, and records what a reader says about the touches of a person.
  init(_ kind: Kind) async throws {
    self.kind = kind
    store = try await ScratchStore()
    sensor = store.folder + "/sensor"
    let selection: ReaderSelection =
      kind == .image ? .virtualImage(socket: sensor) : .virtualStorage(socket: sensor)
    real = ReaderProcess(program: ReaderBuild.program, selection: selection)
    reader = try LyingReader(at: store.folder + "/unit", real: real, holdsReader: kind == .chip)
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

  func end() async {
    reader.end()
    await real.shutdown()
  }

  /// Runs the body with a connection to a vault of the store, which gives its reader this long for an answer.
  func connected(
    answersWithin limit: Duration = ReaderProcess.answerLimit, _ body: (any VaultService) async throws -> Void
  ) async throws {
    let selection: ReaderSelection =
      kind == .image ? .virtualImage(socket: sensor) : .virtualStorage(socket: sensor)
    let process = ReaderProcess(
      unit: reader.path, selection: selection, maker: getuid(), answersWithin: limit)
    let (mine, theirs) = try socketPair()
    let scratch = ScratchConnection(to: store, reader: process)
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
      case .image: (1...6).map { _ in touch(finger) }
      case .chip: [stages, touch(finger)]
      }
    return try await Person(passcodes: [ScratchStore.passcode], touches: touches).with(vault) { handle in
      try await vault.enroll(finger, Asking(in: handle))
    }
  }

  func touch(_ finger: Finger) -> @Sendable () async throws -> Void {
    { [kind, sensor] in
      switch kind {
      case .image:
        let image = SyntheticFinger(person: 1, finger: finger).impression(.random(in: 1...1_000_000))
        try VirtualImageReader(socket: sensor).press(image)
      case .chip: try Self.scan(finger, sensor)
      }
    }
  }

  private func retry() -> @Sendable () async throws -> Void {
    { [kind, sensor] in
      switch kind {
      case .image: try VirtualImageReader(socket: sensor).retry(.general)
      case .chip: try VirtualStorageReader(socket: sensor).retry(.general)
      }
    }
  }

  private static func scan(_ finger: Finger, _ sensor: String) throws {
    try VirtualStorageReader(socket: sensor).scan(finger.rawValue)
  }
}
