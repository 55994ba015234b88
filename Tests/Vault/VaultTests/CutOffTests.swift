import DiskWrites
import Glibc
import Keys
import SecureMemory
import SoftwareTPM
import Synchronization
import TPM
import Testing
import VaultDriver

@testable import Vault

/// A change of a store's keys that ends at any of its writes, as if the machine lost its power then, with all writes of
/// before on the disk, and with those alone that were synced: what is there has the keys of before or those of after, and
/// opens. With swtpm, which loses its power as well.
@Suite("A change of the store's keys that is cut off at each of its writes", .serialized)
struct CutOffTests {
  enum Kind: String, CaseIterable {
    case toTPM, inTPM, toCredential, fromTPMToCredential, passcode, recoveryKey

    var before: VaultStatus.Tier {
      switch self {
      case .toTPM, .toCredential: .keyFile
      case .inTPM, .fromTPMToCredential, .passcode, .recoveryKey: .tpm
      }
    }

    var after: VaultStatus.Tier {
      switch self {
      case .toCredential, .fromTPMToCredential: .credential
      case .toTPM, .inTPM, .passcode, .recoveryKey: .tpm
      }
    }
  }

  private static let right = ScratchStore.passcode

  @Test("has the old keys or the new ones, and is no restore", arguments: Kind.allCases)
  func cutOff(_ kind: Kind) async throws {
    let machine = try MachineWithTPM()
    let credential = try Credential(SecretBytes(count: 32), isSealedByTPM: false)
    let use: RootStorage.CredentialUse = kind.after == .credential ? .always : .never
    let newKey = try RecoveryKey.generate().text().text
    func storage() -> RootStorage { machine.storage.with(credential, use: use) }
    func change(_ vault: Vault) async throws {
      switch kind {
      case .passcode:
        try await Person(passcodes: [Self.right], newPasscode: "a new one").with(vault) {
          try await vault.changePasscode(in: $0)
        }
      case .recoveryKey:
        try await Person(passcodes: [Self.right]).with(vault) {
          try await vault.replaceRecoveryKey(by: newKey, in: $0)
        }
      default: try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(in: $0) }
      }
    }

    let store = try await ScratchStore(storage: kind.before == .tpm ? machine.storage : .keyFile)
    let vault = try store.open(storage: storage())
    try await vault.put("bank", "1234", .passcode)
    try await vault.put("free", "5678")
    let images = try DiskImages(of: store, machine)
    try await images.take { try await change(vault) }
    await vault.close()
    let all = images.all
    try #require(all.count > 10, "the writes were not seen")
    var tiers: Set<String> = []
    for image in Campaign.sample(all, short: 8, of: "cuts of \(kind)") + [all[all.count - 1]] {
      try images.putBack(image)
      let vault = try store.open(storage: storage())
      let status = try await vault.status()
      tiers.insert(status.tier.rawValue)
      #expect([kind.before, kind.after].contains(status.tier), "\(image)")
      #expect(!status.restoreDetected, "\(image)")
      #expect(try await vault.get("free") == "5678", "\(image)")
      let opening = try await passcodes(of: vault, among: kind == .passcode ? [Self.right, "a new one"] : [Self.right])
      #expect(opening.count == 1, "\(image): \(opening) open it")
      if kind == .recoveryKey {
        let keys = try await recoveryKeys(of: vault, among: [store.recoveryKey, newKey])
        #expect(keys == 1, "\(image): \(keys) recovery keys open it")
      } else if opening == [Self.right] {
        try await change(vault)
        #expect(try await vault.status().tier == kind.after, "\(image)")
      }
      await vault.close()
      let again = try store.open(storage: storage())
      #expect(try await !again.status().restoreDetected, "\(image)")
      await again.close()
    }
    #expect(tiers.contains(kind.after.rawValue), "the last image has the new keys")
  }

  private func passcodes(of vault: Vault, among all: [String]) async throws -> [String] {
    var opening: [String] = []
    for passcode in all {
      do {
        if try await vault.get("bank", by: Person(passcodes: [passcode])) == "1234" { opening.append(passcode) }
      } catch VaultError.wrongPasscode {}
    }
    return opening
  }

  private func recoveryKeys(of vault: Vault, among all: [String]) async throws -> Int {
    var count = 0
    for key in all {
      do {
        let person = Person(newPasscode: "another", recoveryKey: key)
        _ = try await person.with(vault) { try await vault.recover(in: $0) }
        count += 1
      } catch VaultError.wrongRecoveryKey {}
    }
    return count
  }
}

/// What the disk and the TPM have before each write of a change.
private final class DiskImages: Sendable {
  struct Image: CustomStringConvertible {
    let folder: String
    /// The write that is not made any more.
    let description: String
  }

  private let store: ScratchStore
  private let machine: MachineWithTPM
  private let folder: String
  private let taken = Mutex<[Image]>([])
  /// What is sure to be on the disk.
  private let synced: Mutex<SyncedFiles>
  private let failure = Mutex<String?>(nil)

  init(of store: ScratchStore, _ machine: MachineWithTPM) throws {
    (self.store, self.machine) = (store, machine)
    let files = ["vault.db", "vault.db-wal", "state", "device.key"].map { "\(store.path)/\($0)" } + [machine.file]
    synced = Mutex(SyncedFiles(files))
    folder = store.folder + "-images"
    guard mkdir(folder, 0o700) == 0 else { throw VaultError.inputOutput("no folder for images") }
  }

  deinit { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }

  var all: [Image] { taken.withLock { $0 } }

  /// Makes the change, and takes an image before each of its writes and after the last.
  func take(of change: () async throws -> Void) async throws {
    // Not retained: it is there until the watch has ended.
    whorl_disk_writes_watch(store.path, machine.folder, tellImages, Unmanaged.passUnretained(self).toOpaque())
    defer { whorl_disk_writes_stop() }
    try await change()
    whorl_disk_writes_stop()
    take("the end", "")
    if let failure = failure.withLock({ $0 }) { throw VaultError.inputOutput(failure) }
  }

  fileprivate func take(_ call: String, _ path: String) {
    let write = "\(call) of \(path.split(separator: "/").last ?? "")"
    synced.withLock { synced in
      do {
        try take("before \(write)") { _ in }
        try take("without what was not synced before \(write)") { image in
          for (path, contents) in synced.contents {
            let place =
              path == machine.file ? "\(image)/record" : "\(image)/store/\(path.split(separator: "/").last ?? "")"
            unlink(place)
            if let contents { try Self.write(contents, to: place) }
          }
          unlink("\(image)/store/vault.db-shm")
        }
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
      // It is made now.
      synced.note(call, path)
    }
  }

  private func take(_ words: String, changing change: (_ folder: String) throws -> Void) throws {
    try taken.withLock { taken in
      let image = Image(folder: "\(folder)/\(taken.count)", description: "image \(taken.count), \(words)")
      guard mkdir(image.folder, 0o700) == 0 else { throw VaultError.inputOutput("no folder for an image") }
      try ScratchStore.run("/bin/cp", ["-a", store.path, image.folder + "/store"])
      if access(machine.file, F_OK) == 0 { try ScratchStore.run("/bin/cp", ["-a", machine.file, image.folder]) }
      try machine.software.copyState(to: image.folder + "/tpm")
      try change(image.folder)
      taken.append(image)
    }
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

private nonisolated func tellImages(
  _ images: UnsafeMutableRawPointer?, _ call: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?
) {
  guard let images, let call, let path else { return }
  // Not retained by the watch; borrowed for the call.
  Unmanaged<DiskImages>.fromOpaque(images).takeUnretainedValue()
    .take(String(cString: call), String(cString: path))
}

/// The contents of files that a loss of power leaves, whatever else the kernel has not written yet.
private struct SyncedFiles {
  /// By path; nil for a file that is not there.
  private(set) var contents: [String: [UInt8]?]
  /// Files that were synced under the name that they are renamed from, until their folder is synced.
  private var renamed: [String: [UInt8]] = [:]
  private var removed: Set<String> = []

  init(_ paths: [String]) {
    contents = Dictionary(uniqueKeysWithValues: paths.map { ($0, try? ScratchStore.contents(of: $0)) })
  }

  mutating func note(_ call: String, _ path: String) {
    let new = ".new"
    switch call {
    case "unlink" where contents.keys.contains(path): removed.insert(path)
    case "fsync", "fdatasync":
      if contents.keys.contains(path) {
        contents[path] = .some(try? ScratchStore.contents(of: path))
      } else if path.hasSuffix(new) {
        renamed[String(path.dropLast(new.count))] = try? ScratchStore.contents(of: path)
      } else {
        // The folder.
        for (file, bytes) in renamed where file.hasPrefix(path + "/") { contents[file] = .some(bytes) }
        for file in removed where file.hasPrefix(path + "/") { contents[file] = .some(nil) }
        renamed = renamed.filter { !$0.key.hasPrefix(path + "/") }
        removed = removed.filter { !$0.hasPrefix(path + "/") }
      }
    default: break
    }
  }
}
