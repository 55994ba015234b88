import Fingerprint
import SDBus
import SecretModel
import Testing
import VaultBus
import VaultDriver

@Suite("The errors of the vault's interface")
struct ErrorTests {
  @Test("survive the way over the bus, every one", arguments: EveryError.ofVault)
  func roundTrip(_ error: VaultError) {
    let (name, details) = error.busForm
    #expect(
      VaultError(busName: VaultInterface.errorPrefix + name.word, message: "", details: details) == error)
  }

  @Test("have a name each, and this suite an example of each")
  func names() {
    #expect(Set(EveryError.ofVault.map(\.busForm.name)) == Set(VaultErrorName.allCases))
  }

  @Test("of another version, or with other arguments, are reported as those of another version")
  func unknown() {
    for (name, details) in [
      ("org.whorl.Vault1.Error.Melted", []), ("org.freedesktop.DBus.Error.UnknownMethod", []),
      ("org.whorl.Vault1.Error.PasscodeDelayed", []), ("org.whorl.Vault1.Error.StoreNotFound", [.int64(1)]),
    ] as [(String, [BusValue])] {
      guard case .versionMismatch(let why) = VaultError(busName: name, message: "text", details: details) else {
        Issue.record("\(name) was taken for another error")
        continue
      }
      #expect(why.contains(name))
    }
  }
}
