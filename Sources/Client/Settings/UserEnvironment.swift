import Glibc
import Processes
import Whorl

package enum UserEnvironment {
  /// This program's own environment, as `NAME=value`.
  package static var entries: [String] { OwnEnvironment.entries }

  /// Nil where it is not set, or empty.
  package static func variable(_ name: String) -> String? {
    entries.first { $0.hasPrefix("\(name)=") && $0.utf8.count > name.utf8.count + 1 }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  /// The user for whom sudo runs this program as root; nil where it does not. For words alone.
  package static var askedThroughSudo: String? {
    geteuid() == 0 ? variable("SUDO_USER").flatMap { $0 == "root" ? nil : $0 } : nil
  }

  /// Whether the program belongs to a desktop, as far as the desktop has said so.
  package static var hasDisplay: Bool { variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil }

  /// The folder of `pass`, where `pass` itself looks for it.
  package static var passwordStore: String {
    variable("PASSWORD_STORE_DIR") ?? "\(variable("HOME") ?? "")/.password-store"
  }
}
