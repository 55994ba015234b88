internal import Whorl

/// The files of the program that was the Secret Service before Whorl.
package enum MissedFiles {
  case keyrings(KeyringPlaces)
  case wallet(KWalletPlaces)

  /// - Parameter program: its name as ``LastCopy`` has it; nil: the one that has files.
  package init(of program: String?, _ context: some SettingsContext) throws(Failure) {
    let (keyrings, wallet) = (try context.keyringPlaces(), try context.kwalletPlaces())
    let isWallet = program == Self.kwallet || program == nil && KeyringLook(keyrings).problem != nil && wallet.exists
    self = isWallet ? .wallet(wallet) : .keyrings(keyrings)
  }

  private static let kwallet = "KWallet"

  /// The name of the program.
  package var program: String {
    switch self {
    case .keyrings: "GNOME Keyring"
    case .wallet: Self.kwallet
    }
  }

  /// Whether there are files to read.
  package var areThere: Bool {
    switch self {
    case .keyrings(let places): KeyringLook(places).problem == nil
    case .wallet(let places): places.exists
    }
  }

  /// Whether passwords may have been stored there at this time or later; seconds since 1970.
  package func haveChanged(since time: Double) -> Bool {
    switch self {
    case .keyrings(let places): places.hasChanged(since: time)
    case .wallet(let places): places.hasChanged(since: time)
    }
  }

  /// The keyrings beside the login keyring that were changed at this time or later.
  package func otherKeyrings(changedSince time: Double) -> Set<String> {
    guard case .keyrings(let places) = self else { return [] }
    return Set(places.changedKeyrings(since: time))
  }

  /// The name of the program, if it has passwords that may be missing in Whorl. Of use where Whorl has taken its place.
  package static func changedProgram(_ context: some SettingsContext) throws(Failure) -> String? {
    let copied = try LastCopy()
    guard let time = copied.time else { return nil }
    let files = try Self(of: copied.program, context)
    return files.areThere && files.haveChanged(since: time) ? files.program : nil
  }
}
