package import Glibc
internal import Whorl

/// A program that makes a request, as the kernel identifies it. Another program of the same user can replace its
/// executable or use its connection, so the name is shown to the person but grants nothing.
package struct ClientProgram: Sendable, Hashable {
  package let process: pid_t
  /// The path of its executable; nil where the kernel does not reveal it. Nil also for the proxy of sandboxed programs.
  package let path: String?
  package let arguments: [String]
  /// Nil for a program in a local login, and for one that the user's service manager has started.
  package let remoteLogin: RemoteLogin?
  /// Whether it passes on the calls of a sandboxed program, which it does not name.
  private let isProxy: Bool
  /// The id of the sandboxed program on whose behalf it asks, as it claims; nil where it asks for itself.
  package private(set) var application: String?

  package init(_ process: pid_t) {
    self.process = process
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // Writes at most the buffer's size, without a terminator.
    let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
    let path = count > 0 ? Self.withoutMark(String(decoding: buffer.prefix(count), as: UTF8.self)) : nil
    // One executable for all sandboxed programs, which share no grant and no rule.
    isProxy = path?.hasSuffix("/xdg-dbus-proxy") == true
    self.path = isProxy ? nil : path
    arguments = Self.arguments(of: process)
    remoteLogin = RemoteLogin(of: process)
  }

  package init(_ process: pid_t, path: String?, arguments: [String], remoteLogin: RemoteLogin? = nil) {
    (self.process, self.path, self.arguments, isProxy) = (process, path, arguments, false)
    self.remoteLogin = remoteLogin
  }

  /// This program, asking on behalf of a sandboxed one.
  package func asking(for application: String) -> ClientProgram {
    var program = self
    program.application = application
    return program
  }

  /// The key by which prompts take turns and touches are remembered: the same for all processes of one executable, or for
  /// the sandboxed program on whose behalf they ask. A login over the network has its own.
  package var program: String {
    let own = [path ?? "process \(process)", remoteLogin?.words].compactMap(\.self).joined(separator: " ")
    return application.map { "\(own) for \($0)" } ?? own
  }

  /// For people.
  package var words: String {
    application.map { "\(Visible.text(Self.shortened($0))), says \(ownWords)" } ?? ownWords
  }

  /// Describes the program itself. For an interpreter it adds the script, which the program could have chosen freely.
  private var ownWords: String {
    let place = remoteLogin.map { " \($0.words)" } ?? ""
    guard let path else {
      return "\(isProxy ? "a sandboxed program behind " : "")process \(process)\(place), unverified"
    }
    guard let script = Interpreter(path)?.script(in: arguments) else { return "\(Visible.text(path))\(place)" }
    return "\(Visible.text(path))\(place), which says that it runs “\(Visible.text(Self.shortened(script)))”"
  }

  /// The end of a client's text.
  private static func shortened(_ text: String) -> String {
    let scalars = text.unicodeScalars
    return scalars.count > longest ? "…" + String(String.UnicodeScalarView(scalars.suffix(longest))) : text
  }

  /// The most characters shown of a client's text.
  private static let longest = 64

  /// The path of an executable without the suffix that the kernel adds when the file was replaced or removed. A program
  /// that was upgraded while it runs counts as the same program.
  private static func withoutMark(_ path: String) -> String {
    let mark = " (deleted)"
    return path.hasSuffix(mark) && access(path, F_OK) != 0 ? String(path.dropLast(mark.count)) : path
  }

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
