import Glibc
import Presence
import Primitives
import ProgramDriver
import ReaderClient
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger

/// Failures of a reader during the wait for a finger. Each must end with a definite error, the next request must work
/// within five seconds, and nothing may be released. A failure is charged only if a finger was on the reader, whose
/// result may have leaked, or the reader process died, so that this is unknown.
@Suite("Trouble with the reader")
struct ReaderTroubleTests {
  private static let limit = Duration.seconds(5)

  private struct Trouble: Sendable, CustomStringConvertible {
    var description: String
    var charge = 0
    var make: @Sendable (ImageReaderStore, ReaderProcess) async throws -> Void
  }

  private static let codes: [(String, DeviceErrorCode)] = [
    ("general", .general), ("not supported", .notSupported), ("busy", .busy), ("protocol", .protocolError),
    ("data", .dataInvalid), ("removed", .removed), ("too hot", .tooHot),
  ]

  private static var troubles: [Trouble] {
    codes.map { name, code in
      Trouble(description: "\(name) error while armed") { image, _ in
        try VirtualImageReader(socket: image.socket).deviceError(code)
      }
    } + [
      Trouble(description: "unplugged with the finger on it", charge: 1) { image, _ in
        let reader = VirtualImageReader(socket: image.socket)
        try reader.send([.automaticFinger(false), .finger(present: true), .deviceError(.removed)])
      },
      Trouble(description: "killed while armed", charge: 1) { image, _ in kill(image) },
      Trouble(description: "killed with the finger on it", charge: 1) { image, _ in
        try VirtualImageReader(socket: image.socket).send([.automaticFinger(false), .finger(present: true)])
        kill(image)
      },
      Trouble(description: "killed while it matches", charge: 1) { image, _ in
        let print = SyntheticFinger(person: 1, finger: .rightIndex).impression(7)
        try VirtualImageReader(socket: image.socket).send([.image(print)])
        kill(image)
      },
      Trouble(description: "suspended and resumed while armed") { _, process in
        try await process.suspend()
        try await process.resume()
      },
      Trouble(description: "suspended and resumed with the finger on it", charge: 1) { image, process in
        try VirtualImageReader(socket: image.socket).send([.automaticFinger(false), .finger(present: true)])
        try await process.suspend()
        try await process.resume()
      },
    ]
  }

  /// Ends the reader process of this store.
  private static func kill(_ image: ImageReaderStore) {
    for pid in processes(with: "virtual-image:\(image.socket)") where pid != getpid() {
      Glibc.kill(pid, SIGKILL)
    }
  }

  /// The number of readers tested in parallel.
  private static let sideBySide = Campaign.count(short: 1, long: 4)

  @Test(
    "a read whose reader fails ends with an error and the right failure count, and the next works in five seconds",
    arguments: 1...Self.sideBySide)
  func image(reader: Int) async throws {
    let image = try await ImageReaderStore()
    let process = image.process
    let vault = try image.store.open(reader: process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("item", "secret", .currentSet)
    for round in 0..<Campaign.count(short: 1, long: 1_000 / Self.troubles.count / Self.sideBySide) {
      for trouble in Self.troubles {
        // Tolerate one late result, as of a busy machine. A bug would be late again.
        if try await Self.isLate(trouble, image, process, vault, round) {
          #expect(try await !Self.isLate(trouble, image, process, vault, round), "twice, round \(round), \(trouble)")
        }
      }
    }
  }

  /// Causes the failure during the wait for a finger, then reads the item. Returns whether either took longer than the
  /// limit.
  private static func isLate(
    _ trouble: Trouble, _ image: ImageReaderStore, _ process: ReaderProcess, _ vault: Vault, _ round: Int
  ) async throws -> Bool {
    let start = ContinuousClock.now
    // A match from before the failure is valid.
    let outcome = try await outcome(vault, Person(touches: [{ try await trouble.make(image, process) }]))
    let answered = ContinuousClock.now
    switch outcome {
    case .failure(.reader):
      #expect(try await vault.status().failures == trouble.charge, "round \(round), \(trouble)")
    case .failure(.timedOut): #expect(try await vault.status().failures == 0, "round \(round), \(trouble)")
    case .failure(let error): Issue.record("round \(round), \(trouble): \(error)")
    case .success: #expect(trouble.description.contains("matches"), "round \(round), \(trouble)")
    }
    let again = ContinuousClock.now
    #expect(
      try await vault.get("item", by: Person(touches: [image.press(.rightIndex)])) == "secret",
      "round \(round), after \(trouble)")
    return answered - start >= limit || ContinuousClock.now - again >= limit
  }

  private static func outcome(_ vault: Vault, _ person: Person) async throws -> Result<String, VaultError> {
    do {
      return .success(try await vault.get("item", ContextOptions(timeout: .seconds(3)), by: person))
    } catch let error as VaultError {
      return .failure(error)
    }
  }

  @Test(
    "a read on a match-on-chip reader that is unplugged at any stage is refused, and no item is lost")
  func chip() async throws {
    let unplug: @Sendable (VirtualStorageReader) throws -> Void = { try $0.unplug() }
    let touched: @Sendable (VirtualStorageReader) throws -> Void = {
      try $0.finger(present: true)
      try $0.unplug()
    }
    for (name, before, armed, charge) in [
      ("before", unplug, nil, 0), ("armed", nil, unplug, 0), ("finger on it", nil, touched, 1),
    ] {
      let store = try await ScratchStore()
      let socket = store.folder + "/storage.socket"
      let chip = VirtualStorageReader(socket: socket)
      let process = ReaderProcess(program: ReaderBuild.program, selection: .virtualStorage(socket: socket))
      let waiting = Mutex(false)
      let reader = InterposedReader(
        real: process,
        at: { step in
          if step == .arming, waiting.withLock({ $0 }) { try? before?(chip) }
        })
      // A virtual chip lives as long as its process, so the reader stays open.
      let vault = try store.open(reader: reader, holdsReader: true)
      let scans: @Sendable () async throws -> Void = { for _ in 1...5 { try chip.scan("print") } }
      let person = Person(passcodes: [ScratchStore.passcode], touches: [scans, { try chip.scan("print") }])
      _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
      try await vault.put("item", "secret", .currentSet)
      waiting.withLock { $0 = true }
      let start = ContinuousClock.now
      await #expect(throws: VaultError.reader(.removed), "\(name)") {
        try await vault.get(
          "item", ContextOptions(timeout: .seconds(3)),
          by: Person(touches: armed.map { armed in [{ try armed(chip) }] } ?? []))
      }
      #expect(ContinuousClock.now - start < Self.limit, "\(name)")
      #expect(try await vault.status().failures == charge, "\(name)")
      #expect(try await vault.items(.everything).map(\.state) == [.living], "\(name)")
      await vault.shutdown()
    }
  }
}
