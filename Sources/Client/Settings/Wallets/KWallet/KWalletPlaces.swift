/// The paths of the wallet that is opened at login, and of the programs and files that belong to it.
package struct KWalletPlaces: Sendable, Hashable {
  /// The folder of the wallets: `kwalletd` in the user's data directory.
  package let folder: String
  /// The user's runtime directory, which is in memory and private to the user.
  package let runtime: String
  /// The daemon that manages the wallets.
  package let daemon: KWalletDaemon
  /// The full path of dbus-daemon, for the trial's own bus.
  package let busProgram: String

  /// - Parameters:
  ///   - data: the user's data directory, such as `~/.local/share`.
  ///   - runtime: the user's runtime directory, such as `/run/user/1000`.
  package init(
    data: String, runtime: String, daemon: KWalletDaemon = .installed, busProgram: String = "/usr/bin/dbus-daemon"
  ) {
    folder = "\(data)/kwalletd"
    self.runtime = runtime
    self.daemon = daemon
    self.busProgram = busProgram
  }

  /// The name of the one wallet that KWallet's own PAM module opens.
  package static let wallet = KWalletDaemon.wallet

  /// The wallet's file.
  package var file: String { "\(folder)/\(Self.wallet).kwl" }
  /// The salt of the wallet's key.
  package var salt: String { "\(folder)/\(Self.wallet).salt" }
  /// Whether there is a wallet.
  package var exists: Bool { PrivateFile.exists(file) }
  /// Whether the wallet was changed at this time or later; seconds since 1970.
  package func hasChanged(since time: Double) -> Bool { PrivateFile.hasChanged(file, since: time) }
  /// The folder where a second daemon works on a copy.
  package var trial: String { "\(runtime)/whorl-kwallet-trial" }
  /// The folder of the socket with which the daemon is started.
  package var handover: String { "\(runtime)/whorl-kwallet" }
}
