internal import CSystemd
internal import Glibc
internal import Primitives
internal import Prompts

/// A process's entry in `/proc/PID/stat` (proc_pid_stat(5)).
struct ProcessStatus {
  let parent: pid_t
  let group: pid_t
  /// The device number of the terminal in whose foreground the process is; nil if it is in none.
  let foregroundTerminal: dev_t?

  /// Nil for a process that has ended.
  init?(of process: pid_t) {
    guard let bytes = try? SmallFile.read("/proc/\(process)/stat", limit: 4_096) else { return nil }
    // The name in parentheses may hold anything. After it: state, parent, process group, session, terminal, foreground.
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 5, let parent = pid_t(fields[1]), let group = pid_t(fields[2]),
      let terminal = UInt64(fields[4]), let foreground = pid_t(fields[5])
    else { return nil }
    (self.parent, self.group) = (parent, group)
    foregroundTerminal = terminal != 0 && foreground == group ? dev_t(terminal) : nil
  }

  /// The ancestors of a process.
  static func ancestors(of process: pid_t) -> Set<pid_t> {
    var ancestors: Set<pid_t> = []
    var next = ProcessStatus(of: process)?.parent
    while let parent = next, parent > 0, ancestors.insert(parent).inserted { next = ProcessStatus(of: parent)?.parent }
    return ancestors
  }

  /// All processes.
  static var processes: [pid_t] {
    (Folder.names(in: "/proc") ?? []).compactMap { pid_t($0) }
  }
}

/// A program that runs scripts, so that its own name does not say what runs.
struct Interpreter {
  private static let names = [
    "bash", "busybox", "dash", "gjs-console", "guile", "ksh", "lua", "node", "perl", "php", "python", "ruby", "tclsh",
    "zsh",
  ]
  /// After one of these options comes code, not the path of a script.
  private static let inlineOptions = ["-c", "-e", "-r"]

  /// Nil if the executable at this path is not a known interpreter.
  init?(_ path: String) {
    let file = path.split(separator: "/").last ?? ""
    // "python3.11" and "lua5.4" are "python" and "lua".
    let name = file.prefix { !$0.isNumber }
    guard Self.names.contains(name.hasSuffix("-") ? String(name.dropLast()) : String(name)) else { return nil }
  }

  /// The first argument that is not an option: a script, or the module after `-m`. Nil if there is none.
  func script(in arguments: [String]) -> String? {
    for argument in arguments.dropFirst() {
      if Self.inlineOptions.contains(argument) { return nil }
      if !argument.hasPrefix("-") { return argument }
    }
    return nil
  }
}

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
    host.map { Text.of("in a login over the network from {host}", ["host": PromptLabel.text($0)]) }
      ?? Text.of("in a login over the network")
  }

  private static func text(_ get: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    // On success the text belongs to the caller.
    guard get(&text) >= 0, let text else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
