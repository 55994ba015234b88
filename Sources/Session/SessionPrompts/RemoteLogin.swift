internal import CSystemd
internal import Glibc
internal import PromptTexts

/// The login over the network in which a process runs, as logind knows it. A program of the same user can leave the
/// session of its login, so this tells the person where a request comes from, and is no boundary.
package struct RemoteLogin: Sendable, Hashable {
  /// The other machine, as the login's service has named it; nil where it has not.
  private let host: String?

  package init(from host: String?) { self.host = host }

  /// Nil for a process in no such login.
  ///
  /// - Parameter process: a `pid_t`, whose name may mean that of the other C module here.
  package init?(of process: Int32) {
    guard let session = Self.text({ sd_pid_get_session(process, $0) }), sd_session_is_remote(session) > 0 else {
      return nil
    }
    host = Self.text { sd_session_get_remote_host(session, $0) }
  }

  /// For people, to follow the name of a program.
  var words: String {
    "in a login over the network" + (host.map { " from \(PromptLabel.text($0))" } ?? "")
  }

  private static func text(_ get: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    // On success the text belongs to the caller.
    guard get(&text) >= 0, let text else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
