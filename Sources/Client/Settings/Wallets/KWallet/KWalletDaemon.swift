internal import Glibc
internal import SDBus

/// One of KWallet's daemons. They use the same files and take a key in the same way. They differ in the program, its
/// bus name, and the call that tells whether the wallet is open.
package struct KWalletDaemon: Sendable, Hashable {
  /// The name of the one wallet that KWallet's own PAM module opens.
  static let wallet = "kdewallet"

  /// The full path of the program.
  package internal(set) var program: String
  /// Its name on the message bus.
  package let busName: String
  /// The D-Bus object, interface and method that report whether the wallet is open.
  let path: String
  let interface: String
  var member: String
  var arguments: [BusValue]
  /// The method's answer while the wallet is open, and while it is closed.
  let whenOpen: BusValue
  let whenClosed: BusValue

  /// The program's file name, for messages.
  package var name: String { String(program.split(separator: "/").last ?? "") }

  /// All known ones, newest first: ksecretd comes with a kwalletd6 that forwards calls to it.
  package static let all = [ksecretd, kwalletd6, kwalletd5]

  /// The daemon of this machine: the newest that is installed, or kwalletd5 if none is.
  package static var installed: Self { all.first { access($0.program, X_OK) == 0 } ?? kwalletd5 }

  /// KDE 5, on Debian 12.
  package static let kwalletd5 = Self(kwalletd: "kwalletd5")
  /// KDE 6 as Debian 13 has it (KDE Frameworks 6.13).
  package static let kwalletd6 = Self(kwalletd: "kwalletd6")
  /// KDE 6 later on (seen in KDE Frameworks 6.30): its wallets are collections of the Secret Service, and it has no other
  /// way to ask whether one is open.
  package static let ksecretd = Self(
    program: "/usr/bin/ksecretd", busName: "org.kde.ksecretd",
    path: "/org/freedesktop/secrets/collection/\(KWalletDaemon.wallet)", interface: "org.freedesktop.DBus.Properties",
    member: "Get", arguments: [.string("org.freedesktop.Secret.Collection"), .string("Locked")],
    whenOpen: .variant(.boolean(false)), whenClosed: .variant(.boolean(true)))

  private init(kwalletd name: String) {
    self.init(
      program: "/usr/bin/\(name)", busName: "org.kde.\(name)", path: "/modules/\(name)", interface: "org.kde.KWallet",
      member: "isOpen", arguments: [.string(KWalletDaemon.wallet)], whenOpen: .boolean(true),
      whenClosed: .boolean(false))
  }

  private init(
    program: String, busName: String, path: String, interface: String, member: String, arguments: [BusValue],
    whenOpen: BusValue, whenClosed: BusValue
  ) {
    self.program = program
    self.busName = busName
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
    self.whenOpen = whenOpen
    self.whenClosed = whenClosed
  }
}
