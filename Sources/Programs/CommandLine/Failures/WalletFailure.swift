import Wallets

extension Failure {
  /// The failure for each error of a wallet.
  init(_ error: WalletError) {
    let (status, name): (ExitStatus, String?) =
      switch error {
      case .missing: (.notFound, "errSecNoSuchKeychain")
      case .damaged: (.damaged, "errSecInvalidKeychain")
      case .withoutPassword, .unsupported, .foreign, .refused: (.refused, nil)
      case .wrongSecret: (.refused, "errSecAuthFailed")
      case .unsendable: (.usage, "errSecParam")
      case .program, .notRunning: (.unavailable, nil)
      case .noAnswer, .busy: (.tryAgain, nil)
      case .unverified, .copyUnverified: (.damaged, nil)
      case .system: (.inputOutput, "errSecIO")
      }
    self.init(status, error.explanation, name: name)
  }
}
