import Glibc
import Primitives
import ProgramDriver
import ReaderClient
import SecretModel
import Synchronization
import Testing
import VaultDriver
import VaultHost
import VirtualFinger

@Suite("The fingers of the service's users", .timeLimit(.minutes(5)))
struct ServiceFingerTests {
  private static let alice = SyntheticFinger(person: 1, finger: .rightIndex)
  private static let bob = SyntheticFinger(person: 2, finger: .rightIndex)
  /// Accounts that exist on every machine, since fprintd looks up their names.
  private static let names = ["daemon", "bin"]

  /// A service over fprintd's unit, which two users use.
  private func withService(
    names: [String] = names, _ body: (RunningService, PrivateFprintd, NextCaller) async throws -> Void
  ) async throws {
    try await withUnit { units, fprintd, _ in
      let next = NextCaller()
      let service = try RunningService(
        reader: .units(units), accountName: { names[Int($0 - geteuid())] },
        callers: { Caller(user: geteuid() + next.number, process: $0.process) })
      try await body(service, fprintd, next)
      try await service.end()
    }
  }

  /// fprintd's unit, and a folder.
  private func withUnit(_ body: (ReaderUnits, PrivateFprintd, String) async throws -> Void) async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await withFolder { folder in
        let place = FprintdPlace(bus: fprintd.bus, templates: fprintd.templates)
        try await UnitLauncher.with(.fprintd(device: nil), in: folder, name: "fprintd", fprintd: place) { _, _ in
          try await body(
            try #require(ReaderUnits(.fprintd(device: nil), in: folder, madeBy: getuid(), fprintd: place)), fprintd,
            folder)
        }
      }
    }
  }

  /// The user whose program connects next.
  private final class NextCaller: Sendable {
    private let state = Mutex<UInt32>(0)
    var number: UInt32 {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  private func touches(_ finger: SyntheticFinger, _ fprintd: PrivateFprintd, _ count: Int)
    -> [@Sendable () async throws -> Void]
  {
    (1...count).map { number in
      {
        // fprintd releases the reader a moment after its answer. A finger before that would not be seen.
        try await Task.sleep(for: .milliseconds(300))
        try await onThread { try fprintd.image.press(finger.impression(UInt64(number))) }
      }
    }
  }

  @Test("fingers of the service's users are separate in fprintd: each opens only its own user's items")
  func apart() async throws {
    try await withService { service, fprintd, next in
      var stores: [(vault: any VaultService, item: ItemID)] = []
      for (number, finger) in [Self.alice, Self.bob].enumerated() {
        next.number = UInt32(number)
        try await service.makeStore()
        let vault = try await service.connect().open(.own)
        try await fprintd.enroll("right-index-finger", of: Self.names[number], pressing: finger)
        // This is not the machine's own fprintd, so its fingers must be accepted.
        let person = Person(passcodes: [RunningService.passcode])
        try await person.with(vault) { try await vault.useAdapter(.fprintd, Asking(in: $0)) }
        #expect(try await vault.status().sets.flatMap(\.fingers).map(\.finger) == [.rightIndex])
        #expect(access("\(fprintd.templates)/\(Self.names[number])", F_OK) == 0)
        let item = try await vault.add(
          NewItem(.genericPassword, [.service: .text("bank")], access: AccessControl(.currentSet)),
          secret: SecretBytes(text: "gold of \(number)"), replacing: false, .nobody)
        stores.append((vault, item.id))
      }
      for (number, (vault, id)) in stores.enumerated() {
        for (owner, finger) in [Self.alice, Self.bob].enumerated() {
          let person = Person(touches: touches(finger, fprintd, 3))
          if owner == number {
            let released = try await person.with(vault) { try await vault.secrets(.ids([id]), Asking(in: $0)) }
            #expect(released.first?.text == "gold of \(number)")
          } else {
            await #expect(throws: VaultError.authenticationFailed) {
              _ = try await person.with(vault) { try await vault.secrets(.ids([id]), Asking(in: $0)) }
            }
          }
        }
      }
      // No other user's templates: the unit's own user has none.
      #expect(try folderEntries(fprintd.templates).sorted() == Self.names.sorted())
    }
  }

  @Test("the vault processes of two users ask for a finger one after the other, at a unit that serves one at a time")
  func processes() async throws {
    try await withUnit { units, fprintd, folder in
      var stores: [(service: RunningService, vault: any VaultService, item: ItemID)] = []
      for (number, finger) in [Self.alice, Self.bob].enumerated() {
        let service = try RunningService(
          reader: .units(units), locks: folder, accountName: { _ in Self.names[number] },
          callers: { Caller(user: geteuid() + UInt32(number), process: $0.process) })
        try await service.makeStore()
        let vault = try await service.connect().open(.own)
        try await fprintd.enroll("right-index-finger", of: Self.names[number], pressing: finger)
        try await Person(passcodes: [RunningService.passcode]).with(vault) {
          try await vault.useAdapter(.fprintd, Asking(in: $0))
        }
        let item = try await vault.add(
          NewItem(.genericPassword, [.service: .text("bank")], access: AccessControl(.currentSet)),
          secret: SecretBytes(text: "gold of \(number)"), replacing: false, .nobody)
        stores.append((service, vault, item.id))
      }
      // Alice is asked first, and touches once bob has been told that somebody else is asked.
      let bobIsTold = Mutex(false)
      let alice = Person(touches: [
        {
          for _ in 0..<1_000 where !bobIsTold.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
          try await self.touches(Self.alice, fprintd, 1)[0]()
        }
      ])
      let bob = Person(touches: touches(Self.bob, fprintd, 3))
      let (hers, his) = (stores[0], stores[1])
      async let first = alice.with(hers.vault) {
        try await hers.vault.secrets(.ids([hers.item]), Asking(in: $0)).first?.text
      }
      #expect(try await eventually { !alice.events.isEmpty })
      async let second = bob.with(his.vault) {
        try await his.vault.secrets(.ids([his.item]), Asking(in: $0)).first?.text
      }
      let told = try await eventually {
        bob.events.contains { if case .notice(.readerInUse(.anotherUser)) = $0 { true } else { false } }
      }
      #expect(told)
      let isAsked = bob.events.contains { if case .touchWanted = $0 { true } else { false } }
      #expect(!isAsked)
      bobIsTold.withLock { $0 = true }
      #expect(try await first == "gold of 0")
      #expect(try await second == "gold of 1")
      for store in stores { try await store.service.end() }
    }
  }

  @Test("the service enrols no finger for a user whose name cannot be passed to fprintd")
  func strangeName() async throws {
    try await withService(names: ["of two words"]) { service, fprintd, _ in
      try await service.makeStore()
      let vault = try await service.connect().open(.own)
      let person = Person(passcodes: [RunningService.passcode], touches: touches(Self.alice, fprintd, 6))
      await #expect {
        _ = try await person.with(vault) { try await vault.enroll(.rightIndex, Asking(in: $0)) }
      } throws: {
        if case .reader(.cannotStart) = $0 as? VaultError { true } else { false }
      }
      #expect(try folderEntries(fprintd.templates).isEmpty)
    }
  }
}
