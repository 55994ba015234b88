import Testing

/// The vault's interface, `VaultService`, is used by the vault, its wire and `Whorl`. Every other part of the package asks
/// through `SecretStore`, which lends the open vault for one request.
@Suite("The one door to the vault")
struct OneDoorTests {
  private static let name = "any VaultService"

  /// The libraries below `Whorl` whose work is one request: they get the vault from whoever makes it. A place that no
  /// longer names it fails the test.
  private static let lent = ["Sources/Client/Moving/", "Sources/Client/Settings/Wallets/"]

  @Test("only the vault, its wire, the library Whorl and what it lends the vault to name its interface")
  func sources() throws {
    let files = try Repository.files(under: ["Sources", "Examples"], extensions: ["swift"])
    #expect(files.count > 100, "the files were not found")
    let users = try files.filter { file in
      let isInside = file.hasPrefix("Sources/Vault/") || file.hasPrefix("Sources/Client/Whorl/")
      return try !isInside && Repository.text(file).contains(Self.name)
    }
    for user in users where !Self.lent.contains(where: { user.hasPrefix($0) }) {
      Issue.record("\(user) names \(Self.name): ask through SecretStore (Sources/Client/Whorl/Inquiry.swift)")
    }
    for place in Self.lent where !users.contains(where: { $0.hasPrefix(place) }) {
      Issue.record("\(place) does not name \(Self.name) any more: remove it from the list of this test")
    }
  }

  @Test("only the library Whorl opens authentication contexts, so that every prompt has one flow")
  func contexts() throws {
    let files = try Repository.files(under: ["Sources"], extensions: ["swift"])
    let users = try files.filter { file in
      try !file.hasPrefix("Sources/Vault/") && Repository.text(file).contains(".openContext(")
    }
    #expect(users == ["Sources/Client/Whorl/AuthenticationContext.swift"])
  }
}

/// What a program makes and has to take back when a signal ends it is made through `Unfinished`, in one step.
@Suite("The one place for what a signal has to undo")
struct UndoneBySignalTests {
  /// What makes a file or a folder, or starts a program that does not get the signals of the terminal.
  private static let makers = ["O_CREAT", "mkdtemp(", " ChildProcess(", " UnattendedCommand("]

  /// The files that have one of them without `Unfinished`, and why.
  private static let others = [
    "Sources/Client/Moving/SyncRepository/RunLock.swift": "a lock's file stays",
    "Sources/Client/Settings/Wallets/TrialLock.swift": "a lock's file stays",
    "Sources/Client/Settings/Wallets/TrialBus.swift": "those who start it enter it",
    "Sources/Client/Settings/Wallets/KWallet/KWalletStart.swift": "the one who starts it makes it a step",
    "Sources/Client/Whorl/PrivateVault.swift": "whorld ends with its connection",
    "Sources/Programs/CommandLine/Process/ReplacementProgram.swift": "the one who starts it enters it",
    "Sources/Vault/": "whorld finishes what it has begun, and clears away at its next start what a kill has left",
  ]

  @Test("every file and program that has to be taken back is entered where a signal finds it")
  func sources() throws {
    let files = try Repository.files(under: ["Sources"], extensions: ["swift"]).filter {
      !$0.hasPrefix("Sources/Testing/") && !$0.hasPrefix("Sources/Programs/whorl-bench/")
    }
    let makers = try files.filter { file in
      let text = try Repository.text(file)
      return Self.makers.contains { text.contains($0) } && !text.contains("Unfinished")
    }
    for maker in makers where !Self.others.keys.contains(where: { maker.hasPrefix($0) }) {
      Issue.record("\(maker) makes something outside Unfinished (Sources/Common/Primitives/Unfinished.swift)")
    }
    for other in Self.others.keys where !makers.contains(where: { $0.hasPrefix(other) }) {
      Issue.record("\(other) needs no exception any more: remove it from the list of this test")
    }
  }
}
