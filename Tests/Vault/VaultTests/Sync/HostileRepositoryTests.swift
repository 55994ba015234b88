import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

extension Vault {
  /// The paths of the records of deletions, or of items, after they have become so much older, in seconds.
  fileprivate func records(_ state: RecordRow.State = .deleted, age: Double) throws -> [String] {
    try presence.passcodes.store.commit { change in
      try change.records(where: "1").filter { $0.head.state == state }.map { row in
        var row = row
        row.head.modified -= age
        try row.write(change)
        return SyncPath.item(row.name).text
      }
    }
  }
}

@Suite("A hostile repository changes and reveals nothing")
struct HostileRepositoryTests {
  private let repository = MemoryRepository()

  private func pair() async throws -> (SyncMachine, SyncMachine) {
    let (desk, lap) = (try await SyncMachine("desk"), try await SyncMachine("lap"))
    try await desk.begin()
    try await desk.sync(repository)
    try await repository.admit(lap, by: desk)
    try await desk.set("mail", "gold")
    try await desk.set("bank", "silver")
    for machine in [desk, lap] { try await machine.sync(repository) }
    return (desk, lap)
  }

  private func itemPaths() -> [String] { repository.tip.keys.filter { $0.hasPrefix("items/") }.sorted() }

  @Test("swapped, truncated, extended, changed and forged files of a sync repository are refused one by one")
  func damaged() async throws {
    let (desk, lap) = try await pair()
    let (tip, paths) = (repository.tip, itemPaths())
    let first = try #require(tip[paths[0]])
    let other = "items/00/" + String(repeating: "0", count: 62)
    let attacks: [(String, [String: [UInt8]])] = [
      ("swapped", [paths[0]: tip[paths[1]] ?? [], paths[1]: first]),
      ("cut off", [paths[0]: Array(first.dropLast(20))]),
      ("emptied", [paths[0]: []]),
      ("lengthened", [paths[0]: first + [0]]),
      ("changed", [paths[0]: first.enumerated().map { $0 == first.count - 5 ? $1 ^ 1 : $1 }]),
      ("under another name", [other: first]),
      ("text", [paths[0]: Array("age-encryption.org/v1\n".utf8)]),
    ]
    for (attack, files) in attacks {
      repository.put(tip.merging(files) { $1 })
      let receipt = try await lap.receive(repository.tip)
      #expect(receipt.changed.isEmpty && receipt.removed.isEmpty && receipt.kept.isEmpty, "\(attack)")
      #expect(receipt.refused.count == files.count, "\(attack): \(receipt)")
      #expect(try await lap.items == ["mail": "gold", "bank": "silver"], "\(attack)")
      // This machine's files replace the forged ones, also where the repository was put back before.
      try await lap.sync(repository, puttingBack: true)
      for path in files.keys where tip[path] != nil {
        let isBack = repository.tip[path] == tip[path]
        #expect(isBack, "\(attack)")
      }
      try await desk.sync(repository)
      #expect(try await desk.items == ["mail": "gold", "bank": "silver"], "\(attack)")
      repository.put(tip)
      _ = try await lap.receive(tip)
      _ = try await desk.receive(tip)
    }
  }

  @Test("an earlier version of a file in a sync repository is detected, and the machine's newer version stays")
  func repeated() async throws {
    let (desk, lap) = try await pair()
    let old = repository.tip
    try await desk.set("mail", "new")
    try await desk.sync(repository)
    try await lap.sync(repository)
    let new = repository.tip
    for path in itemPaths() where old[path] != new[path] {
      repository.put(new.merging([path: old[path] ?? []]) { $1 })
      let receipt = try await lap.receive(repository.tip)
      #expect(receipt.wentBack && receipt.isMixed)
      #expect(try await lap.get("mail") == "new")
    }
  }

  @Test("a missing record of a circle's members and a dropped item version that reappears are detected")
  func gone() async throws {
    let (desk, lap) = try await pair()
    var files = repository.tip
    files["circle/00000002"] = nil
    #expect(try await lap.receive(files).wentBack)
    _ = try await lap.receive(repository.tip)
    try await lap.sync(repository, puttingBack: true)
    for machine in [desk, lap] { try await machine.set("mail", machine.name) }
    for machine in [desk, lap, desk] { try await machine.sync(repository) }
    let before = repository.tip
    let kept = try #require(try await desk.status.kept.first)
    try await desk.resolve(.drop(kept: kept.id))
    for machine in [desk, lap] { try await machine.sync(repository) }
    let path = try #require(
      before.keys.first { $0.hasPrefix("items/") && $0.filter { $0 != "/" }.hasPrefix("items\(kept.id)") })
    #expect(repository.tip[path] != before[path])
    #expect(try await lap.receive(repository.tip.merging([path: before[path] ?? []]) { $1 }).wentBack)
    #expect(try await lap.status.kept.isEmpty)
  }

  @Test("a deletion that is missing in a sync repository counts as lost for 180 days, and is forgotten after them")
  func oldDeletion() async throws {
    let (desk, lap) = try await pair()
    try await desk.delete("mail")
    for machine in [desk, lap] { try await machine.sync(repository) }
    let (tip, paths) = (repository.tip, try await desk.vault.records(age: 0))
    #expect(paths.count == 1)
    let files = tip.filter { !paths.contains($0.key) }
    #expect(try await desk.receive(files).wentBack)
    #expect(try await !desk.receive(tip).wentBack)
    _ = try await desk.vault.records(age: SyncReceiver.deletionAge + 1)
    #expect(try await !desk.receive(files).wentBack)
    #expect(try await desk.vault.records(age: 0).isEmpty)
    #expect(try await desk.items == ["bank": "silver"])
    // An item does not get old.
    let items = try await desk.vault.records(.stored, age: SyncReceiver.deletionAge + 1)
    #expect(try await desk.receive(files.filter { !items.contains($0.key) }).wentBack)
  }

  @Test("files are taken in whatever order a program gives them, lists of members before the items of their members")
  func order() async throws {
    let machines = try await repository.circle("desk", "lap")
    let attic = try await SyncMachine("attic")
    try await repository.admit(attic, by: machines[0])
    try await attic.set("mail", "gold")
    try await attic.sync(repository)
    let files = repository.tip.sorted { $0.key > $1.key }.map { SyncFile($0.key, $0.value) }
    #expect(try await machines[1].session.sync.receive(files, isLast: true).refused.isEmpty)
    #expect(try await machines[1].get("mail") == "gold")
  }

  @Test("a file that the repository never had is not missed when it is named as gone")
  func neverThere() async throws {
    let (desk, _) = try await pair()
    try await desk.set("shop", "iron")
    let paths = try await desk.session.sync.files(after: nil, puttingBack: false).files.map(\.path)
    let path = try #require(paths.first { $0.hasPrefix("items/") })
    let receipt = try await desk.session.sync.receive([SyncFile(path, nil)], isLast: true)
    #expect(!receipt.wentBack)
    #expect(try await desk.status.lost == 0)
  }

  @Test("a machine whose repository has lost something publishes nothing before all of it is back")
  func partly() async throws {
    let (desk, _) = try await pair()
    let (tip, paths) = (repository.tip, itemPaths())
    for missing in [paths, [paths[0], SyncPath.circle(2).text], [paths[0], SyncPath.format.text]] {
      var files = tip.filter { !missing.contains($0.key) }
      #expect(try await desk.receive(files).wentBack, "\(missing)")
      files[missing[0]] = tip[missing[0]]
      _ = try await desk.receive(files)
      #expect(try await desk.status.lost > 0, "\(missing)")
      #expect(try await desk.session.sync.files(after: nil, puttingBack: false).files.isEmpty, "\(missing)")
      #expect(try await !desk.receive(tip).wentBack, "\(missing)")
      #expect(try await desk.status.lost == 0, "\(missing)")
    }
  }

  @Test("a machine that is new to a circle detects a mixture of old and new files")
  func mixed() async throws {
    let (desk, _) = try await pair()
    let old = repository.tip
    try await desk.set("mail", "new")
    try await desk.sync(repository)
    let third = try await SyncMachine("third")
    try await third.ask(repository)
    try await desk.approve(third, in: repository)
    try await desk.sync(repository)
    let path = try #require(itemPaths().first { old[$0] != repository.tip[$0] })
    var files = repository.tip
    files[path] = nil
    #expect(try await third.receive(files).isMixed)
  }

  @Test("records of a circle's members by a machine that was never approved, or was removed, have no effect")
  func members() async throws {
    let (desk, lap) = try await pair()
    let tip = repository.tip
    // A circle of the attacker's own in the place of the first record.
    let (attacker, other) = (try await SyncMachine("attacker"), MemoryRepository())
    try await attacker.begin()
    try await attacker.sync(other)
    repository.put(tip.merging(["circle/00000001": other.tip["circle/00000001"] ?? []]) { $1 })
    #expect(try await lap.receive(repository.tip).wentBack)
    repository.put(tip.merging(["circle/00000003": other.tip["circle/00000001"] ?? []]) { $1 })
    #expect(
      try await lap.receive(repository.tip).refused.map(\.path) == ["circle/00000001", "circle/00000003"].suffix(1))
    #expect(try await lap.status.members.map(\.name).sorted() == ["desk", "lap"])
    let old = try await lap.vault.circle
    try await desk.remove(lap)
    try await desk.sync(repository, puttingBack: true)
    // A removed machine that writes a record after that of its removal, or after the one before it.
    let removal = try await desk.vault.circle.last
    let contents = try #require(old.contents)
    for (path, previous) in [("circle/00000004", removal), ("circle/00000003", old.last)] {
      let record = try CircleRecord(
        after: previous, circle: old.circle, members: old.members, contents, by: old.keys, as: old.id)
      let receipt = try await desk.receive(repository.tip.merging([path: record.bytes]) { $1 })
      #expect(path == "circle/00000004" ? receipt.refused.map(\.path) == [path] : receipt.wentBack, "\(receipt)")
      #expect(try await desk.status.members.map(\.name) == ["desk"])
      _ = try await desk.receive(repository.tip)
    }
    try await lap.sync(repository)
    #expect(try await lap.status.standing == .removed)
  }

  @Test("at most five requests to join a circle wait, and a copied request at another path is refused")
  func requests() async throws {
    let (desk, _) = try await pair()
    for number in 1...7 { try await SyncMachine("m\(number)").ask(repository) }
    let receipt = try await desk.sync(repository)
    #expect(try await desk.status.candidates.count == 5)
    #expect(receipt.refused.count == 2)
    let request = try #require(repository.tip.first { $0.key.hasPrefix("requests/") })
    let path = "requests/" + String(repeating: "0", count: 32)
    repository.put(repository.tip.merging([path: request.value]) { $1 })
    #expect(try await desk.receive(repository.tip).refused.map(\.path) == [path])
  }

  @Test("files at unknown paths of a sync repository are listed and change nothing, and so is an unknown format")
  func paths() async throws {
    let (_, lap) = try await pair()
    var files = repository.tip
    let item = try #require(files.keys.first { $0.hasPrefix("items/") }).split(separator: "/")
    let (start, rest) = (item[1], item[2])
    // Other paths for the same name would be other files of the same record.
    let others = [
      "items/\(start)\(rest.prefix(2))/\(rest.dropFirst(2))", "items/\(start.prefix(1))/\(start.suffix(1))\(rest)",
      "items/\(start)/\(rest.uppercased())", "items/\(start)/\(rest.dropLast(2))", "items/\(start)/\(rest)00",
    ]
    let unknown =
      ["README", "items/x", "items/../../x", "circle/1", "circle/00000000", "heads/x", ".git/config", ""] + others
    for path in unknown { files[path] = [1, 2, 3] }
    for path in others + ["circle/2147483648"] { #expect(SyncPath(path) == nil, "\(path)") }
    let before = repository.tip
    repository.put(files)
    let receipt = try await lap.receive(files)
    #expect(receipt.refused.map(\.path).sorted() == unknown.sorted())
    #expect(receipt.changed.isEmpty && receipt.removed.isEmpty && receipt.kept.isEmpty && !receipt.wentBack)
    // That they are gone is not told.
    #expect(try await lap.receive(before) == SyncReceipt())
    let later = before.merging([SyncPath.format.text: Array("whorl-sync 3\n".utf8)]) { $1 }
    #expect(try await lap.receive(later).refused.map(\.path) == [SyncPath.format.text])
  }
}
