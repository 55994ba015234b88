import ProgramDriver
import SecretModel
import Testing
import Wallets

@Suite("What an error of a wallet says to a person")
struct WalletWordsTests {
  private static let machineWords = "org.freedesktop.DBus.Error.NoReply"

  @Test(
    "has none of the names that only programs and engineers know, and says what to do",
    arguments: [
      .missing("/home/a/.local/share/keyrings/login.keyring"), .damaged("/k", why: "it is larger than 4 MiB"),
      .withoutPassword("/k"), .unsupported("/k", why: "it is encrypted with GnuPG"), .wrongSecret, .unsendable,
      .program("/usr/bin/kwalletd6 does not start, or ends at once"), .notRunning(machineWords),
      .foreign("/k", user: 1001), .noAnswer(machineWords), .refused("to open the login keyring"), .unverified, .busy,
      .system("/k: No space left on device"),
    ] as [WalletError])
  func plain(_ error: WalletError) {
    let said = error.explanation
    #expect(PlainWords.foreign(in: said.what) == [] && PlainWords.foreign(in: said.advice) == [])
    #expect(!said.what.isEmpty && !said.advice.isEmpty)
  }
}
