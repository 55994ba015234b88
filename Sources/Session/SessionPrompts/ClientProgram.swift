package import Glibc
internal import Primitives
internal import Processes
internal import Prompts
package import SecretModel

/// A program that makes a request, as the kernel identifies it. Another program of the same user can replace its
/// executable or use its connection, so the name is shown to the person but grants nothing.
package struct ClientProgram: Sendable, Hashable {
  package let process: pid_t
  /// The path of its executable; nil if the kernel does not reveal it, if another file is at the path, as in a sandbox or
  /// after an upgrade, and for the proxy of sandboxed programs.
  package let path: String?
  /// For a program whose file was replaced or removed since it started: where it says that the file was. It grants nothing.
  package let earlierPath: String?
  /// The program for what a person has allowed it: its path with its file, so that another file that is put at the path
  /// later is another program. Nil without a path, and in a file system that makes its files up.
  package let identity: String?
  package let arguments: [String]
  /// Nil for a program in a local login, and for one that the user's service manager has started.
  package let remoteLogin: RemoteLogin?
  /// Its file, which identifies the program for limits.
  package let file: ProgramFile
  /// How a program without a path is described.
  private let kind: Kind
  /// The id of the sandboxed program for which it claims to ask; nil if it asks for itself.
  package private(set) var application: String?

  private enum Kind {
    case plain
    /// It forwards the calls of a sandboxed program that it does not identify.
    case proxy
    /// It has other files mounted at this machine's paths.
    case sandboxed
    /// Its file was replaced or removed since it started.
    case replaced
  }

  package init(_ process: pid_t) {
    self.process = process
    let executed = ExecutedFile(of: process)
    file = executed.map { ProgramFile(device: $0.device, inode: $0.inode, owner: $0.owner) } ?? .other
    // One executable for all sandboxed programs, which share no grant and no rule.
    kind =
      switch executed {
      case nil: .plain
      case let executed? where executed.path == nil: executed.earlierPath == nil ? .sandboxed : .replaced
      case let executed?: executed.path?.hasSuffix("/xdg-dbus-proxy") == true ? .proxy : .plain
      }
    path = if case .plain = kind { executed?.path } else { nil }
    earlierPath = executed?.earlierPath
    identity = path.flatMap { path in
      executed.flatMap { $0.owner == nil ? nil : "\(path) \($0.device) \($0.inode) \($0.changed)" }
    }
    arguments = Self.arguments(of: process)
    remoteLogin = RemoteLogin(of: process)
  }

  package init(
    _ process: pid_t, path: String?, arguments: [String], remoteLogin: RemoteLogin? = nil, file: ProgramFile = .other
  ) {
    (self.process, self.path, self.arguments, self.file, kind) = (process, path, arguments, file, .plain)
    self.remoteLogin = remoteLogin
    (earlierPath, identity) = (nil, path)
  }

  /// This program, asking on behalf of a sandboxed one.
  package func asking(for application: String) -> ClientProgram {
    var program = self
    program.application = application
    return program
  }

  /// The key for the turns of prompts and for grants: the same for all processes of one executable, or of the sandboxed
  /// program for which they ask, but different in a network login.
  package var program: String {
    let own = [identity ?? "process \(process)", remoteLogin?.words].compactMap(\.self).joined(separator: " ")
    return application.map { "\(own) for \($0)" } ?? own
  }

  /// For people, without characters that could imitate a prompt.
  package var words: String {
    application.map {
      Text.of("{name}, says {program}", ["name": PromptLabel.text($0), "program": ownWords])
    } ?? ownWords
  }

  /// Describes the program itself. For an interpreter it adds the script, which is only the program's own claim.
  private var ownWords: String {
    let place = remoteLogin.map { " \($0.words)" } ?? ""
    guard let path else {
      let number = ["number": "\(process)"]
      let process =
        switch kind {
        case .plain: Text.of("process {number}", number)
        case .proxy: Text.of("a sandboxed program behind process {number}", number)
        case .sandboxed: Text.of("process {number} in a sandbox", number)
        case .replaced:
          Text.of(
            "process {number}, which says that it was {path} and has been updated or removed since it started",
            number.merging(["path": PromptLabel.text(earlierPath ?? "", longest: Self.longestPath)]) { $1 })
        }
      return Text.of("{program}, unverified", ["program": process + place])
    }
    let shown = PromptLabel.text(path, longest: Self.longestPath)
    guard let script = Interpreter(path)?.script(in: arguments) else { return "\(shown)\(place)" }
    return Text.of(
      "{program}, which says that it runs “{script}”", ["program": shown + place, "script": PromptLabel.text(script)])
  }

  /// The most characters shown of a path: more than of a label, since both ends are informative.
  private static let longestPath = 97

  private static func arguments(of process: pid_t) -> [String] {
    let file = open("/proc/\(process)/cmdline", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    // read: writes at most as many bytes as it is told
    let count = read(file, &buffer, buffer.count)
    return buffer.prefix(max(count, 0)).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
