import Foundation
import Glibc
import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@Suite("The system service")
struct ServiceTests {
  @Test("the service names a store by user id and name, and shares it between all connections of the user")
  func shared() async throws {
    let service = try RunningService()
    try await service.makeStore()
    #expect(try service.storeNames() == ["\(geteuid())-user\(geteuid())"])
    let (first, second) = (try service.connect(), try service.connect())
    let (writer, reader) = (try await first.open(.own), try await second.open(.own))
    let item = try await writer.add(note, secret: SecretBytes(text: "gold"), replacing: false, .nobody)
    let found = try await reader.secrets(.ids([item.id]), .nobody)
    #expect(found.first?.text == "gold")
    await first.close()
    #expect(try await reader.status().items == 1)
    await second.close()
    try await service.end()
  }

  @Test("the service gives each user a separate store, also if a user knows another's handles")
  func users() async throws {
    let others = Mutex(false)
    let service = try RunningService(callers: { caller in
      others.withLock { $0 } ? Caller(user: caller.user + 1, process: caller.process) : caller
    })
    try await service.makeStore()
    let alice = try service.connect()
    let vault = try await alice.open(.own)
    let item = try await vault.add(note, secret: SecretBytes(text: "gold"), replacing: false, .nobody)
    let (context, _) = try await vault.openContext(ContextOptions())
    others.withLock { $0 = true }
    let bob = try service.connect()
    await #expect(throws: VaultError.storeNotFound("\(service.stores)/\(geteuid() + 1)-user\(geteuid() + 1)")) {
      _ = try await bob.open(.own)
    }
    try await service.makeStore()
    let his = try await bob.open(.own)
    await #expect(throws: VaultError.itemGone) { _ = try await his.secrets(.ids([item.id]), .nobody) }
    await #expect(throws: VaultError.contextInvalidated) {
      _ = try await his.evaluate(.policy(.deviceOwner), Asking(in: context))
    }
    #expect(try await his.status().items == 0)
    #expect(try await vault.status().items == 1)
    await alice.close()
    await bob.close()
    try await service.end()
  }

  @Test("the service opens, makes and rebuilds no store in a folder that a client names")
  func places() async throws {
    let service = try RunningService()
    let scratch = try await ScratchStore()
    let connection = try service.connect()
    let place = StorePlace(directory: scratch.path)
    await #expect(throws: (any Error).self) { _ = try await connection.open(place) }
    await #expect { _ = try await connection.open(place) } throws: { Self.isInvalidRequest($0) }
    await #expect {
      _ = try await connection.create(
        StorePlace(directory: service.folder + "/mine"), passcode: SecretBytes(text: "correct horse"))
    } throws: {
      Self.isInvalidRequest($0)
    }
    await #expect {
      try await connection.rebuildDeviceKey(at: place, recoveryKey: SecretBytes(text: scratch.recoveryKey))
    } throws: {
      Self.isInvalidRequest($0)
    }
    // A backup is refused for its place before it is read.
    let file = open(scratch.path + "/vault.db", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    await #expect {
      _ = try await connection.makeStore(
        at: StorePlace(directory: service.folder + "/mine"), ofBackup: file,
        recoveryKey: SecretBytes(text: scratch.recoveryKey))
    } throws: {
      Self.isInvalidRequest($0)
    }
    #expect(access(service.folder + "/mine", F_OK) != 0)
    await connection.close()
    try await service.end()
  }

  @Test("the service creates no store without a passcode, and one at a time for each user")
  func creation() async throws {
    let service = try RunningService()
    let (first, second) = (try service.connect(), try service.connect())
    await #expect { _ = try await first.create(.own, passcode: nil) } throws: {
      if case .invalidPasscode = $0 as? VaultError { true } else { false }
    }
    let draft = try await first.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    await #expect {
      _ = try await second.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    } throws: {
      if case .busy = $0 as? VaultError { true } else { false }
    }
    // Another connection cannot keep it.
    await #expect { try await second.keep(draft.id) } throws: { Self.isInvalidRequest($0) }
    // A store that is not kept is removed with its connection.
    #expect(try service.storeNames().count == 1)
    await first.close()
    #expect(try await eventually { try service.storeNames().isEmpty })
    let other = try await second.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    try await second.keep(other.id)
    #expect(try await second.status().passcodeSet)
    await second.close()
    try await service.end()
  }

  @Test("the service asks polkit before a store is created or gets a new key file, first finger or recovery key")
  func owner() async throws {
    let refusal = VaultError.notAuthorized(.denied, action: "org.whorl.own")
    let asked = Mutex<[Caller]>([])
    let allows = Mutex(false)
    let service = try RunningService(authorizeOwner: { caller, _ throws(VaultError) in
      asked.withLock { $0.append(caller) }
      guard allows.withLock({ $0 }) else { throw .notAuthorized(.denied, action: "org.whorl.own") }
    })
    await #expect(throws: refusal) { try await service.makeStore() }
    #expect(try service.storeNames().isEmpty)
    allows.withLock { $0 = true }
    let connection = try service.connect()
    let draft = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    try await connection.keep(draft.id)
    #expect(asked.withLock { $0 }.map(\.process?.id) == [getpid(), getpid()])
    // polkit is not asked if the store exists already.
    await #expect(throws: VaultError.self) {
      _ = try await connection.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    }
    #expect(asked.withLock { $0 }.count == 2)
    allows.withLock { $0 = false }
    // Nor for a key that opens nothing.
    await #expect(throws: VaultError.malformedRecoveryKey) {
      try await connection.rebuildDeviceKey(at: .own, recoveryKey: SecretBytes(text: "of no store"))
    }
    await #expect(throws: VaultError.wrongRecoveryKey) {
      let other = try await ScratchStore(passcode: nil).recoveryKey
      try await connection.rebuildDeviceKey(at: .own, recoveryKey: SecretBytes(text: other))
    }
    #expect(asked.withLock { $0 }.count == 2)
    await #expect(throws: refusal) {
      try await connection.rebuildDeviceKey(at: .own, recoveryKey: draft.recoveryKey.copy())
    }
    let vault = try await connection.open(.own)
    let (context, _) = try await vault.openContext(ContextOptions())
    await #expect(throws: refusal) { _ = try await vault.enroll(.leftThumb, Asking(in: context)) }
    #expect(asked.withLock { $0 }.count == 4)
    _ = try await vault.draftRecoveryKey()
    let person = Person(passcodes: [RunningService.passcode, RunningService.passcode])
    await #expect(throws: refusal) { try await person.with(vault) { try await vault.keepRecoveryKey(Asking(in: $0)) } }
    #expect(asked.withLock { $0 }.count == 5)
    allows.withLock { $0 = true }
    try await person.with(vault) { try await vault.keepRecoveryKey(Asking(in: $0)) }
    await connection.close()
    try await service.end()
  }

  @Test("the service asks polkit before the fingers change, or the kind of reader")
  func fingers() async throws {
    let refusal = VaultError.notAuthorized(.denied, action: "org.whorl.enroll")
    let asked = Mutex(0)
    let service = try RunningService(authorizeFingers: { _ throws(VaultError) in
      asked.withLock { $0 += 1 }
      throw .notAuthorized(.denied, action: "org.whorl.enroll")
    })
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    // The passcode is not asked for before that.
    let person = Person(passcodes: [RunningService.passcode])
    try await person.with(vault) { context in
      await #expect(throws: refusal) { _ = try await vault.enroll(.leftThumb, Asking(in: context)) }
      await #expect(throws: refusal) { _ = try await vault.unenroll(nil, Asking(in: context)) }
      await #expect(throws: refusal) { try await vault.useAdapter(.fprintd, Asking(in: context)) }
    }
    #expect(person.events.isEmpty)
    #expect(asked.withLock { $0 } == 3)
    await connection.close()
    try await service.end()
  }

  @Test("the service asks polkit who may enrol before it enrols or takes fprintd's fingers, but not before a removal")
  func enrolment() async throws {
    let refusal = VaultError.notAuthorized(.denied, action: "org.whorl.enroll-as-administrator")
    let asked = Mutex(0)
    let service = try RunningService(authorizeEnrolment: { _ throws(VaultError) in
      asked.withLock { $0 += 1 }
      throw .notAuthorized(.denied, action: "org.whorl.enroll-as-administrator")
    })
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    let person = Person(passcodes: [RunningService.passcode, RunningService.passcode])
    try await person.with(vault) { context in
      await #expect(throws: refusal) { _ = try await vault.enroll(.leftThumb, Asking(in: context)) }
      await #expect(throws: refusal) { try await vault.useAdapter(.fprintd, Asking(in: context)) }
      #expect(person.events.isEmpty)
      try await vault.useAdapter(.libfprint, Asking(in: context))
      await #expect(throws: VaultError.notEnrolled) { _ = try await vault.unenroll(nil, Asking(in: context)) }
    }
    #expect(asked.withLock { $0 } == 2)
    await connection.close()
    try await service.end()
  }

  @Test("the service refuses a new passcode shorter than the administrator wants, in new and existing stores")
  func passcodeLength() async throws {
    let service = try RunningService(shortestPasscode: 12)
    let connection = try service.connect()
    let tooShort = VaultError.invalidPasscode("it is shorter than 12 characters")
    await #expect(throws: tooShort) {
      _ = try await connection.create(.own, passcode: SecretBytes(text: "elevenchars"))
    }
    try await service.makeStore()
    let vault = try await connection.open(.own)
    let person = Person(passcodes: [RunningService.passcode], newPasscode: "elevenchars")
    await #expect(throws: tooShort) {
      try await person.with(vault) { try await vault.changePasscode(Asking(in: $0)) }
    }
    await connection.close()
    try await service.end()
  }

  @Test("the service never removes the passcode of a store, even if it is not needed after a start")
  func keptPasscode() async throws {
    let service = try RunningService(firstUnlock: .none)
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    let refused = VaultError.invalidRequest("every store of the service has a passcode: 'whorl passcode' changes it")
    await #expect(throws: refused) {
      _ = try await Person(passcodes: [RunningService.passcode]).with(vault) {
        try await vault.removePasscode(Asking(in: $0))
      }
    }
    await connection.close()
    try await service.end()
  }

  @Test(
    "the service creates stores that are open from the start if the administrator wants it",
    arguments: [FirstUnlock.none, .passcode])
  func firstUnlock(_ firstUnlock: FirstUnlock) async throws {
    let service = try RunningService(firstUnlock: firstUnlock)
    try await service.makeStore()
    let connection = try service.connect()
    #expect(try await connection.status().firstUnlock == firstUnlock)
    await connection.close()
    try await service.end()
  }

  @Test("the service opens nothing for a user id that was given to another account")
  func reusedUser() async throws {
    let name = Mutex("alice")
    let service = try RunningService(accountName: { _ in name.withLock { $0 } })
    try await service.makeStore()
    // The vault is open, and stays open for a while.
    let alice = try service.connect()
    #expect(try await alice.status().passcodeSet)
    name.withLock { $0 = "bob" }
    let connection = try service.connect()
    await #expect { _ = try await connection.open(.own) } throws: {
      if case .busy = $0 as? VaultError { true } else { false }
    }
    await alice.close()
    #expect(
      try await eventually {
        do {
          _ = try await connection.open(.own)
          return false
        } catch VaultError.unsafeDirectory(let why) {
          return why.contains("-alice")
        } catch VaultError.busy {
          return false
        }
      })
    try await service.makeStore()
    #expect(try await connection.status().items == 0)
    #expect(try service.storeNames() == ["\(geteuid())-alice", "\(geteuid())-bob"])
    await connection.close()
    name.withLock { $0 = "../alice.new-\u{F6}" }
    try await service.makeStore()
    #expect(try service.storeNames().first == "\(geteuid())-%2e%2e%2falice%2enew-%c3%b6")
    try await service.end()
  }

  @Test("the service serves a new store after the earlier one was removed, although programs still have that open")
  func removed() async throws {
    let service = try RunningService()
    try await service.makeStore()
    let before = try service.connect()
    #expect(try await before.status().passcodeSet)
    let name = try #require(try service.storeNames().first)
    try FileManager.default.removeItem(atPath: "\(service.stores)/\(name)")
    let between = try service.connect()
    await #expect {
      _ = try await between.open(.own)
    } throws: {
      if case .storeNotFound = $0 as? VaultError { true } else { false }
    }
    await between.close()
    try await service.makeStore()
    let after = try service.connect()
    let store = try await after.open(.own)
    _ = try await store.add(note, secret: SecretBytes(text: "kept"), replacing: false, .nobody)
    #expect(access("\(service.stores)/\(name)/vault.db", F_OK) == 0)
    await before.close()
    await after.close()
    let last = try service.connect()
    #expect(try await last.status().items == 1)
    await last.close()
    try await service.end()
  }

  @Test("the service opens nothing for a user without an account")
  func noAccount() async throws {
    let service = try RunningService(accountName: { _ in nil })
    let connection = try service.connect()
    await #expect { _ = try await connection.open(.own) } throws: { Self.isUnavailable($0) }
    await connection.close()
    try await service.end()
  }

  @Test("the service closes an idle store, and opens it again")
  func idle() async throws {
    let service = try RunningService(idleTime: .milliseconds(50))
    try await service.makeStore()
    for _ in 1...3 {
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      _ = try await vault.add(note, secret: SecretBytes(text: "gold"), replacing: true, .nobody)
      // Longer than the idle time: an open connection keeps it open.
      try await Task.sleep(for: .milliseconds(150))
      #expect(try service.hasOpenDatabase())
      await connection.close()
      #expect(try await eventually { try !service.hasOpenDatabase() })
    }
    try await service.end()
  }

  @Test("the service cancels the open calls of its connections when it ends")
  func ends() async throws {
    let service = try RunningService()
    try await service.makeStore()
    let connection = try service.connect()
    let vault = try await connection.open(.own)
    let (context, _) = try await vault.openContext(ContextOptions())
    let waiting = Task { try await vault.evaluate(.policy(.deviceOwner), Asking(in: context)) }
    try await Task.sleep(for: .milliseconds(100))
    try await service.end()
    await #expect(throws: VaultError.systemCancelled) { _ = try await waiting.value }
    await #expect { _ = try await vault.status() } throws: { Self.isUnavailable($0) }
    await connection.close()
  }

  private static func isInvalidRequest(_ error: any Error) -> Bool {
    if case .invalidRequest = error as? VaultError { true } else { false }
  }

  private static func isUnavailable(_ error: any Error) -> Bool {
    if case .serviceUnavailable = error as? VaultError { true } else { false }
  }
}

extension RunningService {
  /// Whether this process has a file of the stores open.
  fileprivate func hasOpenDatabase() throws -> Bool {
    guard let stream = opendir("/proc/self/fd") else { throw Failed(what: "/proc/self/fd") }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let target = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
        // readlink: writes no terminator
        count = buffer.baseAddress.map { max(0, readlink("/proc/self/fd/\(name)", $0, buffer.count)) } ?? 0
      }
      let path = String(decoding: target, as: UTF8.self)
      if path.hasPrefix(stores), path.hasSuffix("vault.db") {
        return true
      }
    }
    return false
  }
}
