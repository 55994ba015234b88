import Primitives
import SDBus
import SecretModel
import Testing
import VaultBus
import VaultDriver

@Suite("The errors of the vault's interface")
struct ErrorTests {
  @Test("a vault's error is transferred over the bus with its details", arguments: EveryError.ofVault)
  func roundTrip(_ error: VaultError) {
    let (name, details) = error.busForm
    #expect(
      VaultError(busName: VaultInterface.errorPrefix + name.word, message: "", details: details) == error)
  }

  @Test("every name of a vault's error has an example that is tested")
  func names() {
    #expect(Set(EveryError.ofVault.map(\.busForm.name)) == Set(VaultErrorName.allCases))
  }

  @Test("a vault's error with an unknown name or arguments is reported as another version's")
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
