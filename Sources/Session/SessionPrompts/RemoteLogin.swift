internal import CSystemd
internal import Glibc
internal import PromptTexts

/// The network login in which a process runs, according to logind. It informs the person where a request comes from,
/// but is no security boundary: a program can leave its login's session.
package struct RemoteLogin: Sendable, Hashable {
  /// The other machine, as named by the login service; nil if it is unknown.
  private let host: String?

  package init(from host: String?) { self.host = host }

  /// Nil for a process that is not in a network login.
  ///
  /// - Parameter process: a `pid_t`, written as `Int32` because two C modules define that name.
  package init?(of process: Int32) {
    guard let session = Self.text({ sd_pid_get_session(process, $0) }), sd_session_is_remote(session) > 0 else {
      return nil
    }
    host = Self.text { sd_session_get_remote_host(session, $0) }
  }

  /// For people, as the words after a program's name.
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
