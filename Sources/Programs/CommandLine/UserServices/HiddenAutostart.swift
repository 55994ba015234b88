import Glibc
import Whorl

/// A program that the machine's configuration starts with a desktop, hidden by a file of the user's.
struct HiddenAutostart {
  private let name: String
  private let title: String

  /// - Parameters:
  ///   - file: the name of the machine's file.
  ///   - title: what it starts, for the desktop's settings.
  init(_ file: String, called title: String) { (name, self.title) = ("autostart/\(file)", title) }

  /// Whether the machine starts it.
  var isInstalled: Bool {
    BaseDirectories.machineConfiguration.contains { access("\($0)/\(name)", F_OK) == 0 }
  }

  /// The file that hides it.
  ///
  /// - Parameter configuration: `$XDG_CONFIG_HOME`.
  func file(in configuration: String, of owner: MarkedFile.Owner) -> MarkedFile {
    MarkedFile(
      "\(configuration)/\(name)", of: owner,
      ["[Desktop Entry]", "Type=Application", "Name=\(title)", "Exec=/bin/true", "Hidden=true"])
  }
}
