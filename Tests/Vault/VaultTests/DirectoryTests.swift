import Glibc
import Keys
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("The folder of a store has to be private")
struct DirectoryTests {
  @Test("a store's folder that is a link, open to others, or in a folder that others may write to is refused")
  func trust() async throws {
    let store = try await ScratchStore()
    _ = try store.open()
    for (mode, fine) in [(0o700, true), (0o750, false), (0o707, false), (0o720, false)] {
      chmod(store.path, mode_t(mode))
      if fine { _ = try store.open() } else { expectUnsafe(store.path, "mode \(String(mode, radix: 8))") }
    }
    chmod(store.path, 0o700)
    let link = store.folder + "/link"
    symlink(store.path, link)
    expectUnsafe(link, "a link")
    chmod(store.folder, 0o707)
    expectUnsafe(store.path, "a parent that others may write")
    chmod(store.folder, 0o1777)
    _ = try store.open()
    chmod(store.folder, 0o700)
    if geteuid() == 0 {
      chown(store.path, 12345, 12345)
      expectUnsafe(store.path, "another's folder")
      chown(store.path, 0, 0)
      chown(store.folder, 12345, 12345)
      expectUnsafe(store.path, "another's parent")
      chown(store.folder, 0, 0)
    }
  }

  @Test("a store is refused if others may write to a folder in its path, or in the path of a symbolic link there")
  func wholePath() async throws {
    let store = try await ScratchStore()
    let other = try await ScratchStore()
    let near = other.folder + "/far/near"
    mkdir(other.folder + "/far", 0o700)
    mkdir(near, 0o700)
    rename(store.path, near + "/store")
    let link = store.folder + "/link"
    symlink(near, link)
    let paths = [near + "/store", link + "/store", store.folder + "/./link/../near/store"]
    func open() throws { for path in paths { _ = try Vault(at: path, desk: NoReader.desk, floor: .weakForTests) } }
    try open()
    // Far above the store, where the folder right above it is private.
    for mode in [0o707, 0o777] as [mode_t] {
      chmod(other.folder, mode)
      for path in paths { expectUnsafe(path, "mode \(String(mode, radix: 8)) above \(path)") }
    }
    chmod(other.folder, 0o1777)
    try open()
    chmod(other.folder, 0o700)
    guard geteuid() == 0 else { return }
    for (user, group, mode) in [(12345, 0, 0o700), (0, 12345, 0o770)] as [(uid_t, gid_t, mode_t)] {
      chown(other.folder, user, group)
      chmod(other.folder, mode)
      for path in paths { expectUnsafe(path, "of user \(user) and group \(group), mode \(String(mode, radix: 8))") }
    }
    chown(other.folder, 0, 0)
    chmod(other.folder, 0o700)
    try open()
    lchown(link, 12345, 12345)
    expectUnsafe(link + "/store", "a symbolic link of another user")
  }

  @Test("a store's file that others may read is refused, and so is a link")
  func files() async throws {
    let store = try await ScratchStore()
    for file in ["device.key", "vault.db", "state"] {
      chmod(store.path + "/" + file, 0o640)
      expectUnsafe(store.path, "\(file) readable by the group")
      chmod(store.path + "/" + file, 0o600)
      rename(store.path + "/" + file, store.folder + "/elsewhere")
      symlink(store.folder + "/elsewhere", store.path + "/" + file)
      expectUnsafe(store.path, "\(file) a link")
      unlink(store.path + "/" + file)
      rename(store.folder + "/elsewhere", store.path + "/" + file)
    }
    _ = try store.open()
  }

  @Test("a new store is private, and an existing one is not overwritten")
  func creation() async throws {
    let store = try await ScratchStore()
    var info = stat()
    for (name, mode) in [("", 0o700), ("/device.key", 0o600), ("/vault.db", 0o600), ("/state", 0o600)] {
      #expect(lstat(store.path + name, &info) == 0)
      #expect(info.st_mode & 0o7777 == mode_t(mode), "\(name)")
    }
    await #expect(throws: VaultError.storeExists(store.path)) {
      _ = try await StoreCreation.newStore(at: store.path, passcode: nil, floor: .weakForTests)
    }
    _ = try store.open()
    #expect(throws: VaultError.storeNotFound(store.folder + "/none")) {
      try Vault(at: store.folder + "/none", desk: NoReader.desk)
    }
  }

  private func expectUnsafe(_ path: String, _ what: Comment) {
    #expect(what) {
      _ = try Vault(at: path, desk: NoReader.desk)
    } throws: { error in
      if case .unsafeDirectory = error as? VaultError { true } else { false }
    }
  }
}
