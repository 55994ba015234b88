import Glibc
import Processes
import Whorl

extension Session {
  /// This program's own environment, as `NAME=value`.
  var environment: [String] { OwnEnvironment.entries }

  /// Nil if it is not set, or empty.
  private func variable(_ name: String) -> String? {
    environment.first { $0.hasPrefix("\(name)=") && $0.utf8.count > name.utf8.count + 1 }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  /// The user for whom sudo runs this program as root; else nil. Only for messages.
  var askedThroughSudo: String? { geteuid() == 0 ? variable("SUDO_USER").flatMap { $0 == "root" ? nil : $0 } : nil }

  /// Whether the program belongs to a desktop, according to its environment.
  var hasDisplay: Bool { variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil }

  /// The folder of `pass`, determined as `pass` does.
  var passwordStore: String { variable("PASSWORD_STORE_DIR") ?? "\(variable("HOME") ?? "")/.password-store" }
}
