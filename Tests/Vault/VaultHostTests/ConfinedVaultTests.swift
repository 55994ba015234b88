import GRDB
import Glibc
import Primitives
import Processes
import ProgramDriver
import SecretModel
import Testing
import VaultDriver

@Suite(
  "The confinement of a user's vault process",
  .enabled(if: geteuid() == 0 && VaultConfinement.isPossible, "needs several users, and Landlock in the kernel"),
  .timeLimit(.minutes(5)))
struct ConfinedVaultTests {
  @Test("code that runs in the vault process of a user uses no other user's store, and reaches no other process")
  func confinement() async throws {
    try await BrokeredService.with(ownPrograms: true) { service in
      _ = try await service.open(1)
      let carol = try await service.open(3)
      let own = service.folder + "/stores/3-" + (Account.name(of: 3) ?? "")
      // It starts the intruder as its reader program, with its own rights.
      _ = try? await carol.readers()
      #expect(try await eventually { access(own + "/results", F_OK) == 0 })
      let files = ["list", "read", "write", "create", "remove", "makeFolder", "move"]
      let results = try Self.results(in: own)
      for user in 1...2 {
        for attempt in files {
          #expect(["Permission denied", "No such file or directory"].contains(results["\(attempt) \(user)"]))
        }
        #expect(results["read \(user)"] == "Permission denied")
      }
      for attempt in files { #expect(results["\(attempt) 3"] == "done") }
      #expect(results["openMemory 1"] == "Permission denied")
      if let version = Landlock.version, version >= 6 {
        #expect(results["signal 1"] == "Operation not permitted")
      }
      #expect(try await service.open(1).read() == "gold")
      // Without the confinement nothing of it is refused: the files belong to the same user.
      let free = Invocation(
        program: service.folder + "/bin/whorl-reader",
        arguments: ["--reader", "virtual-image:\(service.folder)/sensor"])
      _ = try await free.run()
      let unconfined = try Self.results(in: own)
      for user in 1...2 { #expect(unconfined["read \(user)"] == "done" && unconfined["signal \(user)"] != "refused") }
      #expect(unconfined["write 1"] == "done" && unconfined["signal 1"] == "done")
    }
  }

  private static func results(in store: String) throws -> [String: String] {
    let text = String(decoding: try ScratchStore.contents(of: store + "/results"), as: UTF8.self)
    let lines = text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
    return Dictionary(lines.map { ($0[0], String($0[1].dropFirst())) }, uniquingKeysWith: { first, _ in first })
  }

  @Test("a confined vault stores, reads, backs up and logs, and brings an earlier store up to date")
  func serves() async throws {
    try await BrokeredService.with { service in
      let place = service.folder + "/stores/2-" + (Account.name(of: 2) ?? "")
      try await DatabaseQueue(path: place + "/vault.db").write { db in
        for table in ["sync_record", "sync_progress"] { try db.execute(sql: "DROP TABLE \(table)") }
        try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = '4'")
        try db.execute(sql: "PRAGMA user_version = 3")
      }
      let vault = try await service.open(2)
      #expect(try await vault.read() == "gold")
      let big = [UInt8](repeating: 7, count: 200_000)
      for number in 1...20 {
        _ = try await vault.add(
          NewItem(
            .genericPassword, [.service: .text("more \(number)")], access: .none, accessibility: .afterFirstUnlock),
          secret: SecretBytes(copying: big.span), replacing: false, .nobody)
      }
      let key = try await vault.addKey(
        NewItem(
          .key, [.label: .text("key"), .keyType: .text("73"), .keyClass: .text("1")],
          access: AccessControl([.privateKeyUsage]), accessibility: .afterFirstUnlock),
        from: .generated(.ec(.p256)))
      #expect(try await vault.items(ItemSearch(.key), .nobody).items.map(\.id) == [key.id])
      let file = open(service.folder + "/backup", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      try await vault.backUp(to: file)
      _ = try await vault.contents(ofBackup: file)
      #expect(try await !vault.log(AuditSearch()).isEmpty)
      #expect(try await vault.status().tier == .keyFile)
      #expect(service.lines.isEmpty)
      // An administrator removes the store. The process, which can reach no other folder, makes room for another one.
      let process = try service.process(of: 2)
      try ScratchStore.run("/bin/rm", ["-rf", place])
      #expect(
        try await eventually {
          if case .storeNotFound = await vaultError({ try await service.open(2) }) { true } else { false }
        })
      #expect(try service.process(of: 2) != process)
      // Its folder is removed with the process, as nothing was stored.
      await service.close()
      #expect(access(place, F_OK) != 0)
    }
  }
}
