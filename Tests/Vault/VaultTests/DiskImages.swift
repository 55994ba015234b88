import DiskWrites
import Glibc
import SoftwareTPM
import Synchronization
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// The contents of the disk and the TPM after a loss of power before each write of a change.
final class DiskImages: Sendable {
  struct Image: CustomStringConvertible {
    let folder: String
    /// The first write that is not made.
    let description: String
    /// How often ``DiskImages/acknowledge()`` was called before.
    let acknowledged: Int
  }

  private struct State {
    var taken: [Image] = []
    var acknowledged = 0
    var disk: SimulatedDisk
    var random: Campaign.Generator
    var slowSyncs = 0
    var failure: String?
  }

  private let store: ScratchStore
  private let machine: MachineWithTPM
  private let folder: String
  private let slow: String?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - what: a name for the draws of this test.
  ///   - slow: a file of the store whose syncs are slow, so that other writes happen meanwhile.
  init(of store: ScratchStore, _ machine: MachineWithTPM, _ what: String, slow: String? = nil) throws {
    (self.store, self.machine, self.slow) = (store, machine, slow)
    let paths = ["vault.db", "vault.db-wal", "state", "device.key"].map { "\(store.path)/\($0)" } + [machine.file]
    let there = try paths.filter { access($0, F_OK) == 0 }.map { ($0, try ScratchStore.contents(of: $0)) }
    let disk = SimulatedDisk(Dictionary(uniqueKeysWithValues: there))
    state = Mutex(State(disk: disk, random: Campaign.Generator(what)))
    folder = store.folder + "-images"
    guard mkdir(folder, 0o700) == 0 else { throw VaultError.inputOutput("no folder for images") }
  }

  deinit { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }

  var all: [Image] { state.withLock { $0.taken } }

  /// Makes the change, and takes images before each of its writes and after the last.
  func take(of change: () async throws -> Void) async throws {
    // Not retained, since this object outlives the watch.
    whorl_disk_writes_watch(store.path, machine.folder, tellImages, Unmanaged.passUnretained(self).toOpaque())
    defer { whorl_disk_writes_stop() }
    try await change()
    whorl_disk_writes_stop()
    try state.withLock { state in
      try take("at the end", &state)
      if let failure = state.failure { throw VaultError.inputOutput(failure) }
    }
  }

  /// Notes that a change was acknowledged: all later images must contain it.
  func acknowledge() { state.withLock { $0.acknowledged += 1 } }

  fileprivate func take(before write: DiskWrite) {
    state.withLock { state in
      do {
        try take("before \(write)", &state)
        try take("without what was not synced before \(write)", &state, state.disk.synced)
        // This write may be partly on the disk.
        var disk = state.disk
        if case .sync = write.call {} else { disk.make(write) }
        try take("with some of what was not synced with \(write)", &state, disk.some(using: &state.random))
      } catch {
        state.failure = "\(error)"
      }
      if isSlow(write) { return }
      state.disk.make(write)
    }
    guard isSlow(write) else { return }
    let number = state.withLock { state in
      state.slowSyncs += 1
      return state.slowSyncs
    }
    // Until another is asked for, or for a second.
    for _ in 0..<1_000 where state.withLock({ $0.slowSyncs }) == number { usleep(1_000) }
    state.withLock { $0.disk.make(write) }
  }

  private func isSlow(_ write: DiskWrite) -> Bool {
    guard let slow, case .sync = write.call else { return false }
    return write.path == "\(store.path)/\(slow)"
  }

  /// - Parameter contents: the files on the disk; nil for the files as programs see them.
  private func take(_ words: String, _ state: inout State, _ contents: [String: [UInt8]]? = nil) throws {
    let place = "\(folder)/\(state.taken.count)"
    guard mkdir(place, 0o700) == 0 else { throw VaultError.inputOutput("no folder for an image") }
    try ScratchStore.run("/bin/cp", ["-a", store.path, place + "/store"])
    if access(machine.file, F_OK) == 0 { try ScratchStore.run("/bin/cp", ["-a", machine.file, place]) }
    try machine.software.copyState(to: place + "/tpm")
    if let contents {
      unlink("\(place)/store/vault.db-shm")
      for path in state.disk.paths {
        let copy = path == machine.file ? "\(place)/record" : "\(place)/store/\(path.split(separator: "/").last ?? "")"
        unlink(copy)
        if let bytes = contents[path] { try Self.write(bytes, to: copy) }
      }
    }
    state.taken.append(
      Image(folder: place, description: "image \(state.taken.count), \(words)", acknowledged: state.acknowledged))
  }

  private static func write(_ contents: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    guard descriptor >= 0, Glibc.write(descriptor, contents, contents.count) == contents.count else {
      throw VaultError.inputOutput("cannot write \(path)")
    }
  }

  func putBack(_ image: Image) throws {
    try ScratchStore.run("/bin/rm", ["-rf", store.path, machine.file])
    try ScratchStore.run("/bin/cp", ["-a", image.folder + "/store", store.path])
    if access(image.folder + "/record", F_OK) == 0 {
      try ScratchStore.run("/bin/cp", ["-a", image.folder + "/record", machine.file])
    }
    try machine.software.loseAllSince(image.folder + "/tpm")
  }
}

private nonisolated func tellImages(_ images: UnsafeMutableRawPointer?, _ write: UnsafePointer<whorl_disk_write>?) {
  guard let images, let write = write.flatMap({ DiskWrite($0.pointee) }) else { return }
  // Not retained by the watch; borrowed for the call.
  Unmanaged<DiskImages>.fromOpaque(images).takeUnretainedValue().take(before: write)
}
