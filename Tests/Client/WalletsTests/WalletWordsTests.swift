import ProgramDriver
import SecretModel
import Settings
import Testing

@Suite("What a wallet's error says to a person")
struct WalletWordsTests {
  private static let machineWords = "org.freedesktop.DBus.Error.NoReply"

  @Test(
    "a wallet's error contains no technical names, and says what to do",
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
