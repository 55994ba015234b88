import Glibc
import Primitives
import ProgramDriver
import SDBus
import SecretModel
import Testing

@testable import Whorl

/// Tests that inspect child processes run in processes of their own, because other tests start children too.
@Suite("A vault that a program starts for itself")
struct PrivateVaultTests {
  @Test("a private vault creates a store, and this and the next private vault release what is stored there")
  func stores() async throws {
    try await withFolder { folder in
      let vault = try PrivateVault.connect()
      let service = try await newStore(folder, vault)
      let item = try await service.add(item("a"), secret: secret("open sesame"), replacing: false, .nobody)
      let released = try await service.secrets(.ids([item.id]), .nobody)
      #expect(released.count == 1 && text(released[0].secret) == "open sesame")
      await vault.close()

      let next = try PrivateVault.connect()
      let reopened = try await next.open(StorePlace(directory: "\(folder)/store"))
      let kept = try await reopened.secrets(.ids([item.id]), .nobody)
      #expect(kept.count == 1 && text(kept[0].secret) == "open sesame")
      await next.close()
    }
  }

  @Test("a private vault ends and is reaped when its connection is closed, and leaves no descriptor after fifty runs")
  func leavesNothing() async {
    await #expect(processExitsWith: .success) {
      func once() async throws {
        let vault = try PrivateVault.connect()
        _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
        #expect(children(of: getpid()).count == 1, "one child while it is open")
        await vault.close()
        #expect(children(of: getpid()).isEmpty, "none when it is closed")
      }
      try await once()
      let before = try openDescriptors()
      for _ in 0..<50 { try await once() }
      // Another thread may be about to close the last one.
      #expect(try await eventually { try openDescriptors() <= before }, "descriptors are left")
      #expect(waitpid(-1, nil, WNOHANG) == -1, "every child is reaped")
    }
  }

  @Test("a private vault ends with a connection that is released, and is reaped")
  func dropped() async {
    await #expect(processExitsWith: .success) {
      var vault: (any VaultConnection)? = try PrivateVault.connect()
      _ = await vaultError { try await vault?.open(StorePlace(directory: "/nonexistent")) }
      vault = nil
      #expect(try await eventually { children(of: getpid()).isEmpty })
    }
  }

  @Test(
    "a private vault gets no variable of its starter, and no descriptor but its connection",
    .enabled(if: geteuid() == 0, "only root can see what it got"))
  func inheritsNothing() async {
    await #expect(processExitsWith: .success) {
      setenv("OPENSSL_CONF", "/tmp/planted", 1)
      let open = dup(0)
      defer { close(open) }
      let vault = try PrivateVault.connect()
      _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
      let whorld = try #require(children(of: getpid()).first)
      let environment = String(decoding: try readFile("/proc/\(whorld)/environ"), as: UTF8.self)
      #expect(environment == "SWIFT_BACKTRACE=enable=no\0")
      let targets = try folderEntries("/proc/\(whorld)/fd").compactMap { symbolicLink("/proc/\(whorld)/fd/\($0)") }
      #expect(targets.filter { $0.hasPrefix("socket:") }.count == 1, "\(targets)")
      #expect(targets.allSatisfy { $0 == "/dev/null" || $0.hasPrefix("socket:") || $0.hasPrefix("anon_inode:") })
      await vault.close()
    }
  }

  @Test("a private vault gives up core files, inspection and new privileges, and is named whorld")
  func hardened() async {
    await #expect(processExitsWith: .success) {
      let vault = try PrivateVault.connect()
      _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
      let whorld = try #require(children(of: getpid()).first)
      let status = String(decoding: try readFile("/proc/\(whorld)/status"), as: UTF8.self)
      #expect(status.contains("Name:\twhorld\n"))
      #expect(status.contains("Umask:\t0077\n"))
      #expect(status.contains("NoNewPrivs:\t1\n"))
      // The kernel gives the files of a process that refuses inspection to root.
      var information = stat()
      #expect(stat("/proc/\(whorld)/mem", &information) == 0 && information.st_uid == 0)
      if geteuid() == 0 {
        let limits = String(decoding: try readFile("/proc/\(whorld)/limits"), as: UTF8.self)
        #expect(limits.contains(#/Max core file size +0 +0 /#))
      }
      await vault.close()
    }
  }

  @Test("a killed private vault ends its calls with a definite error and is reaped, and the next one works")
  func killed() async {
    await #expect(processExitsWith: .success) {
      try await withFolder { folder in
        let vault = try PrivateVault.connect()
        let service = try await newStore(folder, vault)
        let (context, _) = try await service.openContext(ContextOptions())
        let whorld = try #require(children(of: getpid()).first)
        kill(whorld, SIGKILL)
        #expect(try await eventually { children(of: getpid()).isEmpty })
        guard case .serviceUnavailable = await vaultError({ try await service.status() }) else {
          Issue.record("no definite error")
          return
        }
        let evaluation = await vaultError { try await service.evaluate(.policy(.deviceOwner), Asking(in: context)) }
        #expect(evaluation == .contextInvalidated)
        await vault.close()

        let next = try PrivateVault.connect()
        _ = try await next.open(StorePlace(directory: "\(folder)/store"))
        await next.close()
      }
    }
  }

  @Test("a private vault can be closed while it hangs")
  func stopped() async {
    await #expect(processExitsWith: .success) {
      let vault = try PrivateVault.connect()
      _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
      let whorld = try #require(children(of: getpid()).first)
      try stop(whorld)
      // Immediate: a call that begins after the close has another error.
      let call = Task.immediate { await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) } }
      try await Task.sleep(for: .seconds(1))
      call.cancel()
      await vault.close()
      // On a busy machine the call may not have been sent yet.
      let error = await call.value
      #expect(error == .systemCancelled || error == .cancelled, "\(String(describing: error))")
      #expect(children(of: getpid()).isEmpty)
    }
  }

  @Test("a private vault is refused at once in a fork of its starter, and still works for the starter")
  func forked() async {
    await #expect(processExitsWith: .success) {
      let vault = try PrivateVault.connect()
      _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
      // The other threads of the Swift runtime are not in the forked process. This call needs none of them.
      WaitingThread.run {
        let child = fork()
        guard child == 0 else {
          var status: Int32 = -1
          #expect(waitpid(child, &status, 0) == child && status == 0, "status \(status)")
          return
        }
        alarm(5)
        let error = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
        guard case .serviceUnavailable(let why) = error, why.contains("forked") else { _exit(1) }
        guard case nil = try? PrivateVault.connect() else { _exit(2) }
        _exit(0)
      }
      guard case .storeNotFound = await vaultError({ try await vault.open(StorePlace(directory: "/nonexistent")) })
      else {
        Issue.record("the starter's connection was disturbed")
        return
      }
      await vault.close()
      #expect(children(of: getpid()).isEmpty)
    }
  }

  @Test("a missing whorld, and a program in its place that is no whorld, are reported")
  func otherPrograms() async throws {
    try await withFolder { folder in
      let program = "\(folder)/whorld"
      try #require(symlink("/bin/false", program) == 0)
      // Start this program by its path, since a search would find the tests' own whorld first. It ends before or after
      // the hello is sent.
      for _ in 0..<20 {
        let vault = try PrivateVault.start(program)
        let error = await vaultError { try await vault.open(StorePlace(directory: folder)) }
        guard case .serviceUnavailable(let why) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(why.contains("exit status 1"), "\(why)")
        await vault.close()
      }
      #expect(throws: VaultError.self) { try PrivateVault.start("\(folder)/nothing") }
    }
  }

  @Test(
    "whorld is not started from a place where another user could have put it",
    .enabled(if: geteuid() == 0, "only root can give files away")
  )
  func planted() async throws {
    try await withFolder { folder in
      let program = "\(folder)/whorld"
      try writeFile(program, Array("#!/bin/sh\n".utf8))
      try #require(chmod(program, 0o755) == 0 && chown(program, 4321, 4321) == 0)
      let error = #expect(throws: VaultError.self) { try PrivateVault.start(program) }
      guard case .serviceUnavailable(let why) = error else { return }
      #expect(why.contains("is not run, because user 4321 owns \(program)"), "\(why)")
    }
  }
}
