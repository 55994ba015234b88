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

  /// The names of the other files that belong to the keyrings: the choice of the default keyring, and the keyrings beside
  /// the login keyring, also those that have a password of their own.
  package var otherFiles: [String] {
    (Folder.names(in: folder) ?? []).filter { $0 == "default" } + otherKeyrings
  }

  /// Whether the login keyring or another one was changed at this time or later; seconds since 1970.
  package func hasChanged(since time: Double) -> Bool {
    PrivateFile.hasChanged(file, since: time) || changedKeyrings(since: time).count > 0
  }

  /// The names of the other keyrings that were changed at this time or later.
  package func changedKeyrings(since time: Double) -> [String] {
    otherKeyrings.filter { PrivateFile.hasChanged("\(folder)/\($0)", since: time) }
      .map { String($0.dropLast(Self.suffix.count)) }.sorted()
  }

  private static let suffix = ".keyring"

  private var otherKeyrings: [String] {
    (Folder.names(in: folder) ?? []).filter { $0.hasSuffix(Self.suffix) && $0 != "login\(Self.suffix)" }
  }

  /// The prefix of the files that the daemon leaves behind when it ends in the middle of a change.
  static let leftover = "login.keyring.temp-"
}
