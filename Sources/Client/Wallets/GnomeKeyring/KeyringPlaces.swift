internal import Glibc
internal import Primitives
package import SecretModel

/// The paths of GNOME Keyring's files and sockets, and of Whorl's own files beside them.
package struct KeyringPlaces: Sendable, Hashable {
  /// The folder of the keyrings: `keyrings` in the user's data directory.
  package let folder: String
  /// The control socket of the user's daemon: `keyring/control` in the runtime directory.
  package let control: String
  /// The folder where a second daemon works on a copy. It is in the runtime directory, which is in memory and private
  /// to the user.
  package let trial: String
  /// The full path of gnome-keyring-daemon.
  package let program: String

  /// - Parameters:
  ///   - data: the user's data directory, such as `~/.local/share`.
  ///   - runtime: the user's runtime directory, such as `/run/user/1000`.
  package init(data: String, runtime: String, program: String = "/usr/bin/gnome-keyring-daemon") {
    folder = "\(data)/keyrings"
    control = "\(runtime)/keyring/control"
    trial = "\(runtime)/whorl-keyring"
    self.program = program
  }

  /// The name of the keyring that is opened at login.
  package static let collection = "login"

  /// The file of the login keyring.
  package var file: String { "\(folder)/login.keyring" }
  /// A copy of the file from before the keyring got a secret of its own. It opens with the earlier password, and is
  /// kept until a login has opened the keyring with the secret. The daemon ignores files with this name.
  package var before: String { "\(folder)/login.keyring.before-whorl" }
  /// The secret, sealed under the passcode and the recovery key.
  package var sealed: String { "\(folder)/login.keyring.whorl" }

  /// The sealed copy; nil if there is none or it cannot be read.
  package var sealedCopy: SealedCopy? { (try? PrivateFile.read(sealed)).flatMap(SealedCopy.init) }

  /// The names of the files that can be read with the login keyring's secret alone: the choice of the default keyring,
  /// and the keyrings without a password.
  package var openFiles: [String] {
    (Folder.names(in: folder) ?? []).filter { name in
      name == "default" || otherKeyrings.contains(name) && isOpen(name)
    }
  }

  /// The names of the other keyrings that have a password of their own.
  package var closedKeyrings: [String] {
    otherKeyrings.filter { !isOpen($0) }.map { String($0.dropLast(Self.suffix.count)) }
  }

  /// Whether the login keyring was changed at this time or later; seconds since 1970.
  package func hasChanged(since time: Double) -> Bool {
    var status = stat()
    guard stat(file, &status) == 0 else { return false }
    // The whole seconds of the time, which is the structure's first member.
    return Double(withUnsafeBytes(of: status.st_mtim) { $0.load(as: time_t.self) }) >= time.rounded(.down)
  }

  private static let suffix = ".keyring"

  private var otherKeyrings: [String] {
    (Folder.names(in: folder) ?? []).filter { $0.hasSuffix(Self.suffix) && $0 != "login\(Self.suffix)" }
  }

  private func isOpen(_ name: String) -> Bool {
    (try? PrivateFile.read("\(folder)/\(name)"))?.starts(with: Array("[keyring]".utf8)) == true
  }

  /// The prefix of the files that the daemon leaves behind when it ends in the middle of a change.
  static let leftover = "login.keyring.temp-"
}
