import Glibc
import Keys
import Primitives
import Processes
import ProgramDriver
import SDBus
import SecretModel
import SoftwareTPM
import Synchronization
import Testing
import VaultBus
import VaultDriver
import VaultHost
import VaultStore

@Suite("A vault process that is killed while it uses the TPM, with swtpm", .timeLimit(.minutes(20)))
struct TPMCrashTests {
  /// `TPM_CC_NV_Increment` of TPM 2.0, part 2, 6.5.2.
  private static let increment: UInt32 = 0x134

  @Test("a store opens after a kill at each step between the machine's record and its counter, and stays the last one")
  func kills() async throws {
    let machine = try MachineOfOneUser()
    try await machine.makeStore()
    try machine.keepCopy(as: "first")
    // A run without a kill shows the steps.
    let process = try await machine.begin()
    let vault = try await machine.open()
    machine.steps.withLock { $0.begin(killing: process, at: nil) }
    try await Self.unlock(vault)
    let steps = machine.steps.withLock { $0.seen }
    await machine.end()
    // From the first step at which the new record is on the disk to the one after the answer that the counter has moved.
    let first = try #require(steps.firstIndex { $0.record != steps[0].record })
    let moved = try #require(steps.firstIndex { $0.command == Self.increment && $0.isAnswer })
    #expect(first < moved && moved + 1 < steps.count)
    for step in first...moved + 1 {
      let victim = try await machine.begin()
      let before = try await machine.open()
      machine.steps.withLock { $0.begin(killing: victim, at: step) }
      await #expect(throws: VaultError.self, "step \(step)") { try await Self.unlock(before) }
      #expect(try await eventually { victim.endingSignal == SIGKILL })
      await machine.end()
      try machine.software.freeAll()

      _ = try await machine.begin()
      let after = try await machine.open()
      #expect(try await after.status().restoreDetected == false, "step \(step)")
      try await Self.unlock(after)
      #expect(try await after.status().restoreDetected == false, "step \(step)")
      await machine.end()
    }
    // What was there before is still refused, alone and with the record of then.
    for files in [["stores/\(machine.store)"], ["stores/\(machine.store)", "stores/machine"]] {
      try machine.keepCopy(as: "last")
      try machine.putBack(files, from: "first")
      _ = try await machine.begin()
      let vault = try await machine.open()
      #expect(try await vault.status().restoreDetected, "\(files)")
      await machine.end()
      // The record was written again, for what is no longer there; the next case begins with a new copy.
      try machine.putBack(["stores/\(machine.store)"], from: "last")
    }
  }

  @Test("the record of an earlier version is moved into its folder, and no store counts as restored")
  func moved() async throws {
    let machine = try MachineOfOneUser()
    try await machine.makeStore()
    let (folder, stores) = (machine.folder + "/stores/machine", machine.folder + "/stores")
    try #require(rename(folder + "/record", stores + "/record") == 0)
    try ScratchStore.run("/bin/rm", ["-r", folder])
    _ = try await machine.begin()
    #expect(try await machine.open().status().restoreDetected == false)
    #expect(access(stores + "/record", F_OK) != 0)
    await machine.end()
  }

  private static func unlock(_ vault: any VaultService) async throws {
    try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
  }
}

/// The folder of the service, and the vault process of this user, whose TPM is reached through a relay.
private final class MachineOfOneUser: Sendable {
  /// What went over the relay, and at which message a process is killed.
  struct Steps {
    /// - Parameters:
    ///   - record: which file the machine's record is in then.
    private(set) var seen: [(command: UInt32, isAnswer: Bool, record: UInt64)] = []
    private var victim: (process: ChildProcess, step: Int?)?

    mutating func begin(killing process: ChildProcess, at step: Int?) {
      (seen, victim) = ([], (process, step))
    }

    mutating func take(_ message: TPMRelay.Message, _ record: UInt64) -> Bool {
      guard let victim else { return true }
      seen.append((message.command, message.isAnswer, record))
      guard seen.count - 1 == victim.step else { return true }
      victim.process.kill()
      self.victim = nil
      return false
    }
  }

  let folder: String
  let store: String
  let steps = Mutex(Steps())
  let software: SoftwareTPM
  private let relay: Mutex<TPMRelay?>
  private let running = Mutex<(ChildProcess, SocketPassing)?>(nil)

  init() throws {
    folder = try RunningService.makeFolder()
    store = "\(geteuid())-" + (Account.name(of: geteuid()) ?? "")
    software = try SoftwareTPM()
    try software.setLockout(limit: 30)
    for name in ["stores", "run"] { mkdir("\(folder)/\(name)", 0o700) }
    relay = Mutex(nil)
    let new = try TPMRelay(to: software.place, in: folder) { [weak self] message in
      guard let self else { return false }
      return steps.withLock { $0.take(message, record) }
    }
    relay.withLock { $0 = new }
    try RunningService.write(
      "tpm = swtpm:\(new.path)\nreader = virtual-image:\(folder)/sensor\n", to: folder + "/conf")
  }

  deinit { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }

  /// Which file the machine's record is in: it is replaced as a whole.
  private var record: UInt64 {
    var status = stat()
    return lstat(folder + "/stores/machine/record", &status) == 0 ? UInt64(status.st_ino) : 0
  }

  func makeStore() async throws {
    var configuration = SystemVaultsConfiguration(
      folder: folder + "/stores", reader: .child(.virtualImage(socket: folder + "/sensor")),
      accountName: { Account.name(of: $0) }, authorizeOwner: { _, _ in }, authorizeFingers: { _ in },
      authorizeTest: { _ in })
    let record = RollbackGuard.folder(inThatOfStores: folder + "/stores")
    configuration.storage = .tpm(software.tpm, RollbackGuard(in: record, software.tpm))
    let vaults = SystemVaults(configuration)
    let connection = vaults.connection(for: Caller(user: geteuid()))
    let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    try await connection.keep(draft.id)
    await connection.close()
    await vaults.close()
  }

  /// Starts a vault process.
  func begin() async throws -> ChildProcess {
    let program = try HelperProgram(at: Programs.path("whorld"))
    let (passing, other) = try await onLoop { try SocketPassing.begin {} }
    let arguments = ["whorld", "--of", "\(geteuid())", folder + "/stores", folder + "/conf", folder + "/run"]
    let child = try ChildProcess(
      program, arguments: arguments, environment: ["SWIFT_BACKTRACE=enable=no"], standardInput: other.rawValue)
    running.withLock { $0 = (child, passing) }
    return child
  }

  func open() async throws -> any VaultService {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let (passing, passed) = (try #require(running.withLock { $0?.1 }), pair[1])
    let connection = try VaultBusClient(socket: pair[0])
    try await onLoop { try passing.pass(passed) }
    return try await connection.open(.own)
  }

  func end() async {
    guard
      let (child, passing) = running.withLock({ running in
        defer { running = nil }
        return running
      })
    else { return }
    try? await onLoop { passing.end() }
    _ = await child.end(grace: .seconds(10)).value
  }

  func keepCopy(as name: String) throws {
    try ScratchStore.run("/bin/rm", ["-rf", "\(folder)/\(name)"])
    mkdir("\(folder)/\(name)", 0o700)
    try ScratchStore.run("/bin/cp", ["-a", folder + "/stores", "\(folder)/\(name)/stores"])
  }

  func putBack(_ files: [String], from copy: String) throws {
    for file in files {
      try ScratchStore.run("/bin/rm", ["-rf", "\(folder)/\(file)"])
      try ScratchStore.run("/bin/cp", ["-a", "\(folder)/\(copy)/\(file)", "\(folder)/\(file)"])
    }
  }
}
