import Keys
import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// Simulates a loss of power at each write of a change: with all earlier writes on the disk, with only the synced ones,
/// or with some of the others, in any order and torn. swtpm loses its power as well.
@Suite("A change of a store that is interrupted at each of its writes", .serialized)
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

  @Test("an interrupted change of keys leaves old or new keys, and no restore is detected", arguments: Kind.allCases)
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
    let images = try DiskImages(of: store, machine, "cuts of \(kind)")
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

  @Test("an item that was confirmed as stored survives a loss of power", arguments: [VaultStatus.Tier.keyFile, .tpm])
  func items(_ tier: VaultStatus.Tier) async throws {
    let items = (1...6).map { "item \($0)" }
    try await cut("items, \(tier)", tier, slow: "state") { (vault, acknowledge) async throws in
      for item in items {
        try await vault.put(item, "secret of \(item)")
        acknowledge()
      }
    } check: { (vault, image) async throws in
      var there = 0
      for item in items {
        do {
          #expect(try await vault.get(item) == "secret of \(item)", "\(image)")
          there += 1
        } catch VaultError.itemGone {}
      }
      // The item that was being stored may exist or not.
      #expect((image.acknowledged...image.acknowledged + 1).contains(there), "\(image): \(there) items")
      try await vault.put("later", "1")
      #expect(try await vault.get("later") == "1", "\(image)")
    }
  }

  @Test("a reported wrong passcode stays counted after a loss of power", arguments: [VaultStatus.Tier.keyFile, .tpm])
  func failures(_ tier: VaultStatus.Tier) async throws {
    // The fifth starts a delay.
    let limit = 5
    func fail(_ vault: Vault) async {
      _ = try? await Person(passcodes: ["wrong"]).with(vault) { try await vault.unlock(in: $0) }
    }
    try await cut("failures, \(tier)", tier) { (vault, acknowledge) async throws in
      for _ in 1...limit {
        await fail(vault)
        acknowledge()
      }
    } check: { (vault, image) async throws in
      for _ in 0..<(limit - image.acknowledged) { await fail(vault) }
      #expect(try await vault.status().passcodeDelay > 0, "\(image)")
    }
  }

  /// Cuts off a change at each of its writes, and opens the remaining store, which must not look restored.
  private func cut(
    _ what: String, _ tier: VaultStatus.Tier, slow: String? = nil,
    _ change: (Vault, _ acknowledge: () -> Void) async throws -> Void,
    check: (Vault, DiskImages.Image) async throws -> Void
  ) async throws {
    let machine = try MachineWithTPM()
    func storage() -> RootStorage { tier == .tpm ? machine.storage : .keyFile }
    let store = try await ScratchStore(storage: storage())
    let vault = try store.open(storage: storage())
    let images = try DiskImages(of: store, machine, "cuts of \(what)", slow: slow)
    try await images.take {
      try await change(vault, images.acknowledge)
      await vault.close()
    }
    let all = images.all
    try #require(all.count > 30, "the writes were not seen")
    for image in Campaign.sample(all, short: 12, of: "cuts of \(what)") {
      try images.putBack(image)
      let vault = try store.open(storage: storage())
      #expect(try await !vault.status().restoreDetected, "\(image)")
      try await check(vault, image)
      await vault.close()
    }
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
