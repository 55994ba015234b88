import CLinux
import Glibc
import Primitives
import SecretModel
import Testing
import VaultDriver

@Suite("A reader process that lies", .timeLimit(.minutes(120)))
struct LyingReaderTests {
  @Test("a lying reader can only claim a match, or end items bound to its fingers", arguments: LyingStore.Kind.allCases)
  func touches(_ kind: LyingStore.Kind) async {
    // In a new process, since a crash ends it and its memory is measured.
    await onOwnThread {
      await #expect(processExitsWith: .success) { [kind = kind.rawValue as String, seed = Campaign.seed as UInt64] in
        // fprintd's lies take a second each.
        let long = kind == "fprintd" ? 400 : 2_000
        try await lie(kind, "touches", seed: seed, count: Campaign.count(short: 30, long: long)) {
          try await ToldLies($0, in: $1, $2).touch()
        }
      }
    }
  }

  // Enrolment is tested without fprintd's readers, on which the service cannot enrol.
  @Test(
    "a lying reader can only change fingers during an enrolment that the passcode allowed",
    arguments: [LyingStore.Kind.image, LyingStore.Kind.chip])
  func enrolments(_ kind: LyingStore.Kind) async {
    await onOwnThread {
      await #expect(processExitsWith: .success) { [kind = kind.rawValue as String, seed = Campaign.seed as UInt64] in
        try await lie(kind, "enrolments", seed: seed, count: Campaign.count(short: 10, long: 1_000)) {
          try await ToldLies($0, in: $1, $2).enroll()
        }
      }
    }
  }
}

/// Makes requests to a vault whose reader lies. Afterwards everything must open with the truthful reader.
private func lie(
  _ kind: String, _ name: String, seed: UInt64, count: Int,
  request: @Sendable (LyingStore, any VaultService, Campaign.Generator) async throws -> Void
) async throws {
  do {
    try await LyingStore.with(try #require(LyingStore.Kind(rawValue: kind))) { store in
      try await lie(to: store, name, seed: seed, count: count, request: request)
    }
  } catch {
    // Record an issue, since the output of this process is not shown.
    Issue.record("\(error), with WHORL_SEED=\(seed)")
    throw error
  }
}

private func lie(
  to store: LyingStore, _ name: String, seed: UInt64, count: Int,
  request: @Sendable (LyingStore, any VaultService, Campaign.Generator) async throws -> Void
) async throws {
  try ScratchStore.run("/bin/mkdir", ["\(store.store.folder)/beside"])
  try ScratchStore.run("/bin/cp", ["/etc/passwd", "\(store.store.folder)/beside/file"])
  let other = try ScratchStore.contents(of: "\(store.store.folder)/beside/file")
  let others = try names(in: store.store.folder)
  store.reader.lie(ReaderLies(from: store.reader.recorded, "lies about \(name) on \(store.kind.rawValue)", seed: seed))
  var memory: Int?
  // As whorld does.
  whorl_use_one_heap()
  // fprintd's reader is claimed and released for each request, truthfully too.
  let limit = Duration.milliseconds(store.kind == .fprintd ? 1_000 : 300)
  try await store.connected(answersWithin: limit) { vault in
    for number in 1...count {
      let place = "request \(number) of WHORL_SEED=\(seed)"
      let watch = Task {
        try await Task.sleep(for: .seconds(90))
        Issue.record("\(place) was not answered")
        exit(3)
      }
      let random = Campaign.Generator("request \(number)", seed: seed)
      try await attributed(to: place) { try await request(store, vault, random) }
      watch.cancel()
      // Measure from the second quarter on, when one-time allocations were made.
      if number == count / 4 { memory = allocatedBytes() }
    }
  }
  let most = try #require(memory) + 32 << 20
  #expect(allocatedBytes() < most, "WHORL_SEED=\(seed)")
  store.reader.lie(nil)
  #expect(try names(in: store.store.folder) == others)
  #expect(try ScratchStore.contents(of: "\(store.store.folder)/beside/file") == other)
  try await store.connected { try await truth($0, of: store, name: name) }
}

/// With a truthful reader the store is as before, except for fingers after lies about enrolments.
private func truth(_ vault: any VaultService, of store: LyingStore, name: String) async throws {
  if name == "enrolments" {
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { handle in
      try await vault.unenroll(nil, Asking(in: handle))
    }
    _ = try await store.enroll(.leftRing, in: vault)
    try await store.addItems(in: vault)
  } else if try await vault.status().lockedOut {
    try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
  }
  let finger: Finger = name == "enrolments" ? .leftRing : .rightIndex
  // A lie about fprintd's prints may have ended items bound to them. All other items are unchanged.
  let kept = store.kind == .fprintd ? Set(LyingStore.items.keys).subtracting(LyingStore.bound) : []
  for item in kept.sorted() {
    #expect(try await store.read(item, in: vault, touches: [store.touch(finger)]) == item)
  }
  if store.kind == .fprintd { try await store.renew(in: vault) }
  for item in LyingStore.items.keys.sorted() {
    #expect(try await store.read(item, in: vault, touches: [store.touch(finger)]) == item)
  }
}

/// Names the request in the record of a failure.
private func attributed(to place: String, _ body: () async throws -> Void) async throws {
  do {
    try await body()
  } catch {
    Issue.record("\(place): \(error)")
    throw error
  }
}

private func names(in folder: String) throws -> [String] {
  let directory = try #require(opendir(folder))
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    names.append(withUnsafePointer(to: &entry.pointee.d_name.0) { String(cString: $0) })
  }
  // The file of a reader's sensor exists while the reader is open.
  return names.filter { $0 != "sensor" }.sorted()
}

/// The memory that is allocated, of the one heap. What was freed and is kept for the next large message does not count.
private func allocatedBytes() -> Int {
  let heap = mallinfo2()
  return heap.uordblks + heap.hblkhd
}
