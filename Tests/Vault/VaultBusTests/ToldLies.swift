import Primitives
import SecretModel
import Testing
import VaultDriver

/// One request of a vault while its reader lies, and what must hold after it.
struct ToldLies {
  private let store: LyingStore
  private let vault: any VaultService
  /// Which request it is, of ten.
  private let kind: Int
  /// The item that it is for.
  private let item: String
  /// Whether the same client lists the readers meanwhile.
  private let lists: Bool
  /// The reader's answers wait longer than this, or never come.
  private let patience = ContextOptions(timeout: .milliseconds(200))
  private let longest = Duration.seconds(60)

  /// - Parameter random: decides which request it is.
  init(_ store: LyingStore, in vault: any VaultService, _ random: Campaign.Generator) {
    (self.store, self.vault) = (store, vault)
    var random = random
    kind = Int.random(in: 0..<10, using: &random)
    item = LyingStore.items.keys.sorted().randomElement(using: &random) ?? ""
    lists = Int.random(in: 0..<4, using: &random) == 0
  }

  /// A request that may ask for a touch.
  func touch() async throws {
    let before = try await state()
    if before.lockedOut {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      #expect(try await vault.status().failures == 0)
    }
    let start = try await state()
    _ = store.reader.takeClaims()
    let began = ContinuousClock.now
    let opened = try await request()
    #expect(ContinuousClock.now - began < longest)
    let claims = store.reader.takeClaims().recent
    let after = try await state()
    // "none" needs no finger, and the passcode was not given.
    #expect(claims > 0 || opened.subtracting(["none"]).isEmpty, "\(opened)")
    #expect(opened.isDisjoint(with: ["passcode", "both"]), "\(opened)")
    #expect(claims > 0 || after.failures >= start.failures)
    switch store.kind {
    case .image, .chip:
      #expect(after.items == start.items)
      #expect(after.sets == start.sets)
    case .fprintd:
      try await followed(from: start, to: after, opened)
    }
  }

  /// A list of fprintd's prints can change the set, which ends the items bound to it, but nothing else.
  private func followed(from start: State, to after: State, _ opened: Set<String>) async throws {
    #expect(start.ended.isEmpty)
    #expect(after.ended.isSubset(of: LyingStore.bound), "\(after.ended)")
    #expect(Set(after.items.keys) == Set(start.items.keys))
    for (id, item) in start.items where !LyingStore.bound.contains(item.name?.service ?? "") {
      #expect(after.items[id] == item)
    }
    if after.sets == start.sets {
      #expect(after.items == start.items)
    } else if !start.sets.isEmpty {
      #expect(after.ended == LyingStore.bound)
    }
    // Listing the readers beside the request may have changed the set after the item was opened.
    #expect(opened.isDisjoint(with: LyingStore.bound) || lists || after.sets == start.sets, "\(opened)")
    if !after.ended.isEmpty { try await store.renew(in: vault) }
  }

  /// An enrolment: refused without the passcode, and then requested with it.
  func enroll() async throws {
    let before = try await state()
    await #expect(throws: VaultError.interactionNotAllowed) {
      _ = try await Person().with(vault) { handle in try await vault.enroll(.leftThumb, Asking(in: handle)) }
    }
    #expect(try await state() == before)
    _ = store.reader.takeClaims()
    let began = ContinuousClock.now
    let change = try await documented {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault, patience) { handle in
        try await vault.enroll(.leftThumb, Asking(in: handle))
      }
    }
    #expect(ContinuousClock.now - began < longest)
    let claims = store.reader.takeClaims().all
    let after = try await state()
    #expect(after.failures >= before.failures || before.lockedOut)
    guard let change else {
      #expect(after.sets == before.sets)
      #expect(after.items == before.items)
      return
    }
    #expect(claims > 0)
    #expect(change.fingers.map(\.finger).contains(.leftThumb))
    #expect(Set(change.lost.map(\.service)) == ["current set", "both"])
    try await store.addItems(in: vault)
  }

  /// Makes a random request. Returns the items that it opened.
  private func request() async throws -> Set<String> {
    let person = Person(applicationPassword: LyingStore.password)
    let name = try ItemName(service: item)
    switch kind {
    case 0:
      _ = try await documented { try await vault.biometry() }
    case 1:
      _ = try await documented { try await vault.readers() }
    case 2:
      _ = try await documented { try await vault.losses(.fingers) }
    case 3:
      var options = ContextOptions.keepingEvidence(.never)
      options.timeout = patience.timeout
      let items = try await documented {
        try await person.with(vault, options) { handle in
          _ = try? await vault.evaluate(.policy(.biometrics), Asking(in: handle))
          return try await vault.secrets(.names([name]), Asking(in: handle)).map(\.text)
        }
      }
      return Set(items ?? [])
    default:
      async let listed = documented { lists ? try await vault.biometry().hasReader : false }
      let read = try await documented { try await store.read(name.service, in: vault, patience, by: person) }
      _ = try await listed
      return Set([read ?? nil].compactMap(\.self))
    }
    return []
  }

  /// The answer of a call; nil where it throws one of the errors that a reader may cause.
  private func documented<Value: Sendable>(_ call: () async throws -> Value) async throws -> Value? {
    do {
      return try await call()
    } catch let error as VaultError {
      switch error {
      // The item has ended with the set, which is checked afterwards.
      case .itemInvalidated where store.kind == .fprintd: return nil
      case .internalError, .outcomeUnknown, .serviceUnavailable, .systemCancelled, .versionMismatch,
        .contextInvalidated,
        .storeDamaged, .itemDamaged, .itemInvalidated, .itemGone, .inputOutput, .restoreDetected:
        throw error
      default: return nil
      }
    }
  }

  private struct State: Equatable {
    var failures: Int
    var lockedOut: Bool
    var items: [ItemID: Item]
    var sets: [[UInt8]]

    /// The items whose secret is lost.
    var ended: Set<String> { Set(items.values.filter { $0.state != .living }.compactMap { $0.name?.service }) }
  }

  private func state() async throws -> State {
    let status = try await vault.status()
    let items = try await vault.items(ItemSearch(states: Set(Item.State.allCases)), .nobody).items
    return State(
      failures: status.failures, lockedOut: status.lockedOut,
      items: Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) }),
      sets: status.sets.map(\.digest))
  }
}
