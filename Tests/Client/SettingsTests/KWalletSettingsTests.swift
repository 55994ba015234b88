import Testing

@testable import Settings

@Suite("The settings by which KWallet uses the Secret Service")
struct KWalletSettingsTests {
  /// What a command does to the settings: `GROUP/KEY=VALUE`, or `GROUP/KEY` for one that is deleted.
  private func changes(_ commands: [[String]]) -> [String] {
    commands.map { words in
      #expect(Array(words.prefix(3)) == ["kwriteconfig6", "--file", "kwalletrc"])
      let entry = "\(words[4])/\(words[6])"
      return words.last == "--delete" ? entry : "\(entry)=\(words.last ?? "")"
    }
  }

  @Test("KWallet with a service of its own is given the Secret Service, with a mark before the change")
  func used() {
    for file in ["", "[KSecretD]\nEnabled=true\n", "[Wallet]\nFirst Use=false\nEnabled=false\n"] {
      let settings = KWalletSettings(file: file)
      #expect(settings.state == .ownService && settings.takingBack.isEmpty)
      #expect(
        changes(settings.using) == [
          "KSecretD/whorl=true", "Wallet/Default Wallet=Login", "KSecretD/Enabled=false",
        ])
    }
  }

  @Test("the wallet's name from before is kept, and is given back with KWallet's own service")
  func takenBack() {
    let before = KWalletSettings(file: "[Wallet]\nDefault Wallet=my\\swallet\\\\1\n")
    #expect(changes(before.using).first == "KSecretD/whorl-default-wallet=my wallet\\1")
    let used = KWalletSettings(
      file: """
        [KSecretD]
        Enabled=false
        whorl=true
        whorl-default-wallet=my\\swallet\\\\1

        [Wallet]
        Default Wallet=Login
        """)
    #expect(used.state == .secretServiceByWhorl && used.using.isEmpty)
    #expect(
      changes(used.takingBack) == [
        "KSecretD/Enabled", "Wallet/Default Wallet=my wallet\\1", "KSecretD/whorl", "KSecretD/whorl-default-wallet",
      ])
    let without = KWalletSettings(file: "[KSecretD]\nEnabled=false\nwhorl=true\n")
    #expect(changes(without.takingBack)[1] == "Wallet/Default Wallet")
  }

  @Test("what the person has chosen themselves is neither changed nor taken back")
  func own() {
    let settings = KWalletSettings(file: "[KSecretD]\nEnabled=false\n")
    #expect(settings.state == .secretServiceByUser && settings.using.isEmpty && settings.takingBack.isEmpty)
  }

  @Test("settings that were interrupted are made and taken back all the same, with the wallet's name from before")
  func interrupted() {
    let half = KWalletSettings(
      file: "[KSecretD]\nwhorl=true\nwhorl-default-wallet=mine\n[Wallet]\nDefault Wallet=Login\n")
    #expect(changes(half.using) == ["Wallet/Default Wallet=Login", "KSecretD/Enabled=false"])
    #expect(changes(half.takingBack)[1] == "Wallet/Default Wallet=mine")
    let stale = KWalletSettings(file: "[KSecretD]\nwhorl-default-wallet=mine\n")
    #expect(changes(stale.using).first == "KSecretD/whorl-default-wallet" && stale.takingBack.isEmpty)
  }
}
