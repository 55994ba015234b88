import Glibc
import Primitives
import ProgramDriver
import SDBus
import Synchronization
import Testing
import VaultDriver

@testable import Settings

@Suite("Limits on KWallet's daemon: its socket, its program and its time", .timeLimit(.minutes(2)))
struct KWalletLimitTests {
  private static func isSystem(_ error: any Error, _ words: String) -> Bool {
    if case .system(let text)? = error as? WalletError { text.contains(words) } else { false }
  }

  private static func isProgram(_ error: any Error) -> Bool {
    if case .program? = error as? WalletError { true } else { false }
  }

  /// Files that look like a wallet, without its contents.
  private func wallet(in folder: String) throws -> KWalletPlaces {
    for name in ["data", "data/kwalletd", "run"] {
      guard mkdirPrivate("\(folder)/\(name)") else { throw SystemFailure(name) }
    }
    let places = KWalletPlaces(data: "\(folder)/data", runtime: "\(folder)/run")
    try writeFile(places.file, Array("KWALLET\n\r\0\r\n".utf8) + [0, 1, 3, 2] + Array(repeating: 7, count: 64))
    try writeFile(places.salt, Array(repeating: 1, count: 56))
    return places
  }

  @Test("a runtime directory with a path too long for KWallet's socket is reported, and nothing is left in it")
  func longPath() async throws {
    try await withFolder { folder in
      let long = "\(folder)/\(String(repeating: "a", count: 100))"
      let start = KWalletStart(
        places: KWalletPlaces(data: folder, runtime: folder), folder: long, environment: [])
      #expect {
        _ = try start.run(giving: SecretBytes(text: "key"))
      } throws: {
        Self.isSystem($0, "too long for a socket")
      }
      #expect(access(long, F_OK) != 0)
    }
  }

  @Test("a folder for KWallet's socket that others can enter is not used")
  func openFolder() async throws {
    try await withFolder { folder in
      let socket = "\(folder)/socket"
      try #require(mkdir(socket, 0o700) == 0 && chmod(socket, 0o755) == 0)
      let start = KWalletStart(
        places: KWalletPlaces(data: folder, runtime: folder), folder: socket, environment: [])
      #expect {
        _ = try start.run(giving: SecretBytes(text: "key"))
      } throws: {
        Self.isSystem($0, "not a folder of this user alone")
      }
    }
  }

  @Test("a KWallet daemon where others could have put it gets no key, also if a root-owned launcher runs it")
  func plantedDaemon() async throws {
    try await withFolder { folder in
      let others = "\(folder)/others"
      try #require(mkdir(others, 0o700) == 0 && chmod(others, 0o777) == 0)
      var daemon = KWalletDaemon.kwalletd5
      daemon.program = "\(others)/kwalletd5"
      try writeFile(daemon.program, Array("#!/bin/sh\ntouch \(folder)/run\n".utf8))
      try #require(chmod(daemon.program, 0o755) == 0)
      let start = KWalletStart(
        places: KWalletPlaces(data: folder, runtime: folder, daemon: daemon), folder: "\(folder)/socket",
        environment: [], launcher: ["/usr/bin/env"])
      #expect {
        _ = try start.run(giving: SecretBytes(text: "key"))
      } throws: {
        Self.isProgram($0)
      }
      try await Task.sleep(for: .milliseconds(300))
      #expect(access("\(folder)/run", F_OK) != 0)
    }
  }

  @Test("a second trial of KWallet's key at the same time is refused, and keeps the first trial's copy")
  func oneTrial() async throws {
    try await withFolder { folder in
      let places = try wallet(in: folder)
      let copy = "\(places.trial)/data/kwalletd/kdewallet.kwl"
      let first = try KWalletTrial(of: places)
      #expect(throws: WalletError.busy) { _ = try KWalletTrial(of: places) }
      #expect(access(copy, F_OK) == 0)
      withExtendedLifetime(first) {}
    }
    try await withFolder { folder in
      let places = try wallet(in: folder)
      do { _ = try KWalletTrial(of: places) }
      #expect(access(places.trial, F_OK) != 0)
      _ = try KWalletTrial(of: places)
    }
  }

  @Test("opening KWallet without a desktop is refused, and starts no daemon")
  func withoutDesktop() async throws {
    try await PrivateBus.with { bus in
      try await withFolder { folder in
        var daemon = KWalletDaemon.kwalletd5
        daemon.program = "\(folder)/kwalletd5"
        // Would still run when it is looked for.
        try writeFile(daemon.program, Array("#!/bin/sh\nsleep 10\n:\n".utf8))
        try #require(chmod(daemon.program, 0o755) == 0)
        let files = try wallet(in: folder)
        let places = KWalletPlaces(data: "\(folder)/data", runtime: files.runtime, daemon: daemon)
        let opening = KWalletOpening(
          places, environment: ["DBUS_SESSION_BUS_ADDRESS=\(bus.address)", "DISPLAY="], limit: .milliseconds(100))
        await #expect {
          try await opening.open(with: SecretBytes(text: "key"))
        } throws: {
          if case .notRunning? = $0 as? WalletError { true } else { false }
        }
        #expect(processes(with: daemon.program).isEmpty)
      }
    }
  }

  @Test("a process that owns the name of KWallet's daemon and does not answer is waited for only until the limit")
  func silentOwner() async throws {
    try await PrivateBus.with { bus in
      let held = Mutex<[BusCall]>([])
      let owner = try BusConnection(
        busAddress: bus.address, handlers: .init(call: { call in held.withLock { $0.append(call) } }))
      defer { owner.close() }
      let daemon = KWalletDaemon.kwalletd5
      _ = try await owner.call(MessageBus.target, "RequestName", [.string(daemon.busName), .uint32(0)])
      let kwallet = KWalletBus(address: bus.address, daemon: daemon, limit: .milliseconds(300))
      await #expect {
        _ = try await kwallet.isOpen()
      } throws: {
        if case .noAnswer? = $0 as? WalletError { true } else { false }
      }
      #expect(held.withLock { $0.count } == 1)
    }
  }

  @Test("a KWallet daemon that never appears on the bus is waited for only until the limit", .withKWallet)
  func neverComes() async throws {
    try await KWalletDesktop.with { desktop in
      let key = try desktop.key(of: KWalletDesktop.password)
      var daemon = desktop.places.daemon == .kwalletd5 ? KWalletDaemon.kwalletd6 : .kwalletd5
      daemon.program = desktop.places.daemon.program
      let places = KWalletPlaces(data: "\(desktop.folder)/data", runtime: desktop.runtime, daemon: daemon)
      let start = ContinuousClock.now
      await #expect {
        try await KWalletOpening(places, environment: desktop.environment, limit: .seconds(2)).open(with: key.bytes)
      } throws: {
        Self.isProgram($0)
      }
      await #expect {
        _ = try await KWalletTrial(of: places, within: .seconds(2)).opens(with: key.bytes)
      } throws: {
        Self.isProgram($0)
      }
      // Much less than without their limits.
      #expect(ContinuousClock.now - start < .seconds(60))
      #expect(processes(with: places.trial).isEmpty)
    }
  }
}
