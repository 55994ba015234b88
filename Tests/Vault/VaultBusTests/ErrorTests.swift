import Fingerprint
import SDBus
import SecretModel
import Testing
import VaultBus
import VaultDriver

@Suite("The errors of the vault's interface")
struct ErrorTests {
  @Test("are transferred over the bus, every one", arguments: EveryError.ofVault)
  func roundTrip(_ error: VaultError) {
    let (name, details) = error.busForm
    #expect(
      VaultError(busName: VaultInterface.errorPrefix + name.word, message: "", details: details) == error)
  }

  @Test("have a name each, and an example in this suite")
  func names() {
    #expect(Set(EveryError.ofVault.map(\.busForm.name)) == Set(VaultErrorName.allCases))
  }

  @Test("with unknown names or arguments are reported as another version's")
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
