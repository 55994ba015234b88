// A running process of somebody else: a handle that never means another one, the file that it runs, and its name for people.

internal import CLinux
internal import Glibc
internal import Primitives
internal import SDBus

/// A process, named by a pidfd (pidfd_open(2)). Unlike a process number, a pidfd never comes to name another process.
package final class ProcessHandle: Sendable {
  private let descriptor: Descriptor

  /// Opens the process with this number. Nil if there is none.
  ///
  /// The number must not have been given to another process in the meantime. The caller has to make sure of that.
  package init?(_ pid: Int32) {
    guard let descriptor = Descriptor(taking: whorl_open_process(pid)) else { return nil }
    self.descriptor = descriptor
  }

  /// Takes over a pidfd. Nil for the result of a call that failed.
  package init?(taking pidfd: Int32) {
    guard let descriptor = Descriptor(taking: pidfd) else { return nil }
    self.descriptor = descriptor
  }

  /// Whether the process has ended. It may not have been reaped yet.
  package var hasEnded: Bool {
    var polled = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) > 0
  }

  /// Blocks until the process has ended, at most for this time.
  func waitForEnd(milliseconds: Int32) {
    var polled = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    _ = poll(&polled, 1, milliseconds)
  }

  /// Sends a signal, which has no effect on a process that has ended.
  package func signal(_ number: Int32) {
    whorl_signal_process(descriptor.rawValue, number)
  }

  /// Waits for the end of the process, even if the task is cancelled.
  ///
  /// - Parameter limit: nil to wait without a time limit.
  /// - Returns: Whether the process has ended.
  @discardableResult
  package func ended(within limit: Duration? = nil) async -> Bool {
    if hasEnded { return true }
    let deadline = limit.map { LoopClock.now + $0.microseconds } ?? .max
    await withCheckedContinuation { continuation in
      EndWait(descriptor, deadline) { continuation.resume() }.begin()
    }
    return hasEnded
  }

  /// Calls the closure on the bus loop when the process ends, also if it has ended already. The closure is kept until
  /// then.
  package func onEnd(_ body: @escaping @Sendable () -> Void) {
    EndWait(descriptor, .max, body).begin()
  }

  /// Reaps the process if it is a child of this process and has ended.
  func reap() -> Reaping {
    var code: Int32 = 0
    var status: Int32 = 0
    let result = whorl_reap_process(descriptor.rawValue, &code, &status)
    if result < 0 { return .notOurs }
    switch code {
    case 0: return .running
    case whorl_child_exited: return .exited(status)
    default: return .killed(status)
    }
  }

  /// Whether the process is a child of this process that has not been reaped.
  var isOwnChild: Bool { whorl_is_child(descriptor.rawValue) }

  enum Reaping {
    case running
    /// The value is the exit status.
    case exited(Int32)
    /// The value is the signal.
    case killed(Int32)
    /// Another part of this program has reaped the child, or the program ignores SIGCHLD.
    case notOurs
  }
}

/// Waits on the bus loop for the end of a process or a deadline, whichever comes first.
private final class EndWait: BusLoopSource {
  private let descriptor: Descriptor
  private let deadline: UInt64
  private let body: @Sendable () -> Void

  init(_ descriptor: Descriptor, _ deadline: UInt64, _ body: @escaping @Sendable () -> Void) {
    self.descriptor = descriptor
    self.deadline = deadline
    self.body = body
  }

  func begin() { BusLoop.shared.post { BusLoop.shared.add(self) } }

  func pollRequest() -> BusPollRequest? {
    // Nobody waits urgently for the end of a process without a deadline.
    BusPollRequest(
      descriptor: descriptor.rawValue, events: Int16(POLLIN), deadline: deadline, isAwaited: deadline != .max)
  }

  func dispatch() {
    BusLoop.shared.remove(self)
    body()
  }
}

extension ProcessHandle {
  /// The number and start time of the process that a pidfd names. Nil if it is no pidfd, the process has ended, or it cannot
  /// be seen from this process's PID namespace.
  ///
  /// - Parameter pidfd: stays open and the caller's.
  package static func instance(of pidfd: Int32) -> (number: Int32, started: UInt64)? {
    // The kernel writes "Pid:", a tab and the number: -1 for a process that has ended, 0 for one of another namespace.
    guard let number = line("Pid:", of: "/proc/self/fdinfo/\(pidfd)").flatMap({ Int32($0) }), number > 0,
      let started = start(of: number)
    else { return nil }
    // A pidfd becomes readable when its process ends. If it still runs, the number was its own when the start was read.
    var polled = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) == 0 ? (number, started) : nil
  }

  /// What follows a name in a file of the kernel's.
  private static func line(_ name: String, of path: String) -> String? {
    let lines = kernelFile(path)?.split(separator: UInt8(ascii: "\n"))
    guard let line = lines?.first(where: { $0.starts(with: name.utf8) }) else { return nil }
    return String(decoding: line.dropFirst(name.utf8.count + 1), as: UTF8.self)
  }

  /// When the process with this number was started, in clock ticks since boot (`starttime` of proc_pid_stat(5)). Nil if
  /// there is none, or if `/proc` hides it.
  package static func start(of pid: Int32) -> UInt64? {
    // "PID (NAME) STATE …": the name may hold any bytes, so count from the last parenthesis. Search bytes: a String takes
    // U+0600 and a parenthesis behind it for one character.
    guard let stat = kernelFile("/proc/\(pid)/stat"), let end = stat.lastIndex(of: UInt8(ascii: ")")) else {
      return nil
    }
    let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
    // The state is field 3, and the start field 22.
    return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
  }
}

/// The file that a process runs.
package struct ExecutedFile: Sendable {
  /// Its path on this machine; nil if another file is there, or none. The kernel tells the path of the mounts through which
  /// the file was opened, and a program can mount its own file over any path in a namespace that it has made.
  package let path: String?
  /// For a file without a path: where it was before it was replaced or removed, as by an upgrade. This is only what the
  /// program says, since a removed file is at no path that could be compared.
  package let earlierPath: String?
  package let device: UInt64
  package let inode: UInt64
  /// Nil in a FUSE file system, whose program chooses the owner and inode number of a file.
  package let owner: UInt32?
  /// When the file or its properties were last changed, in nanoseconds since 1970. No program can set it.
  package let changed: Int64

  /// Nil if the kernel does not reveal it.
  package init?(of process: Int32) {
    // O_PATH follows the link to the file, whatever is at its path, and needs no permission to read. The status and the
    // path are then those of one file, also if the process executes another one meanwhile.
    let opened = open("/proc/\(process)/exe", whorl_o_path | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    defer { close(opened) }
    var status = stat()
    guard fstat(opened, &status) == 0, let text = Self.target(of: "/proc/self/fd/\(opened)") else { return nil }
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    owner = Self.isMadeUp(opened) ? nil : status.st_uid
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    path = Self.leads(text, to: status) ? text : nil
    earlierPath = path == nil ? Self.earlierPath(text, of: process) : nil
  }

  private static func leads(_ path: String, to file: stat) -> Bool {
    var found = stat()
    return stat(path, &found) == 0 && found.st_dev == file.st_dev && found.st_ino == file.st_ino
  }

  /// Nil for a program with mounts of its own, and for a file that never had a path.
  private static func earlierPath(_ text: String, of process: Int32) -> String? {
    let mark = " (deleted)"
    guard text.hasSuffix(mark), !text.hasPrefix("/memfd:"), let own = target(of: "/proc/self/ns/mnt"),
      target(of: "/proc/\(process)/ns/mnt") == own
    else { return nil }
    return String(text.dropLast(mark.count))
  }

  /// `FUSE_SUPER_MAGIC` of <linux/magic.h>, which Swift's Glibc module does not include.
  private static let userSpaceMagic = 0x6573_5546

  private static func isMadeUp(_ opened: Int32) -> Bool {
    var system = statfs()
    return fstatfs(opened, &system) != 0 || system.f_type == userSpaceMagic
  }

  private static func target(of link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // Writes at most the buffer's size, without a terminator.
    let count = readlink(link, &buffer, buffer.count)
    return count > 0 && count < buffer.count ? String(validating: buffer.prefix(count), as: UTF8.self) : nil
  }
}

/// A running program's name for people: its command and its application. A program can choose both, so never base a
/// permission on it.
package enum ProgramLabel {
  /// The most characters shown of an application identifier, which has at most 255 bytes.
  private static let longestApplication = 64
  /// The most characters shown of each end of a long path.
  private static let longestPathEnd = 48
  /// The kernel keeps 15 bytes of a command's name.
  private static let longestCommand = 15

  /// The label of the process with this number: `COMMAND (APPLICATION)`, or one of the two. Nil if neither is known.
  ///
  /// The caller must make sure that the number is not reused meanwhile.
  package static func text(of pid: Int32) -> String? {
    text(command: contents(of: "/proc/\(pid)/comm"), groups: contents(of: "/proc/\(pid)/cgroup"))
  }

  /// The label of a program that runs this file: `COMMAND (APPLICATION) (PATH)`.
  ///
  /// - Parameter label: the program's label without it.
  package static func text(_ label: String?, path: String) -> String? {
    guard let path = plain(path, .max).map(shortened) else { return label }
    return (label.map { "\($0) " } ?? "") + "(\(path))"
  }

  /// The label of a program whose file is not at its path any more: `COMMAND (APPLICATION) (updated or removed: PATH)`. Any
  /// program can claim the path.
  ///
  /// - Parameter label: the program's label without it.
  package static func text(_ label: String?, earlierPath path: String) -> String {
    let path = plain(path, .max).map(shortened) ?? ""
    return (label.map { "\($0) " } ?? "") + "(updated or removed: \(path))"
  }

  /// The label of a program in a sandbox, which chooses the path of its file: `COMMAND (APPLICATION) (in a sandbox)`.
  ///
  /// - Parameter label: the program's label without it.
  package static func inSandbox(_ label: String?) -> String { (label.map { "\($0) " } ?? "") + "(in a sandbox)" }

  /// Keeps the beginning of a path, which shows who installed the program, and the end, which names it.
  private static func shortened(_ path: String) -> String {
    let scalars = path.unicodeScalars
    guard scalars.count > 2 * longestPathEnd + 1 else { return path }
    return String(String.UnicodeScalarView(scalars.prefix(longestPathEnd))) + "…"
      + String(String.UnicodeScalarView(scalars.suffix(longestPathEnd)))
  }

  /// - Parameters:
  ///   - command: the content of `/proc/PID/comm`.
  ///   - groups: the content of `/proc/PID/cgroup`.
  static func text(command: String?, groups: String?) -> String? {
    let command = command.flatMap { plain($0, longestCommand) }
    let application = groups.flatMap(application(in:)).flatMap { plain($0, longestApplication) }
    return switch (command, application) {
    case (let command?, let application?): "\(command) (\(application))"
    case (let only?, nil), (nil, let only?): only
    case (nil, nil): nil
    }
  }

  /// The application identifier in the name of the innermost unit that has one, as desktops name the units of the
  /// programs that they start (systemd's `docs/DESKTOP_ENVIRONMENTS.md`).
  private static func application(in groups: String) -> String? {
    let lines = groups.split(separator: "\n")
    // systemd's own hierarchy: the only one, or the one of this name beside those of version 1.
    let path = lines.lazy.compactMap { line -> Substring? in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { return nil }
      return fields[2]
    }.first
    guard let path else { return nil }
    return path.split(separator: "/").reversed().lazy.compactMap(application(ofUnit:)).first
  }

  /// `app[-LAUNCHER]-APPLICATION-RANDOM.scope`, `app[-LAUNCHER]-APPLICATION[@RANDOM].service`,
  /// `app-APPLICATION.slice` and `dbus-CONNECTION-APPLICATION@NUMBER.service`.
  private static func application(ofUnit unit: Substring) -> String? {
    guard let point = unit.lastIndex(of: ".") else { return nil }
    let kind = unit[point...]
    let name = kind == ".service" ? unit[..<point].prefix { $0 != "@" } : unit[..<point]
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    let application: Substring? =
      switch (parts[0], kind, parts.count) {
      case ("app", ".scope", 3): parts[1]
      case ("app", ".scope", 4): parts[2]
      case ("app", ".service", 2), ("app", ".slice", 2): parts[1]
      case ("app", ".service", 3), ("dbus", ".service", 3): parts[2]
      default: nil
      }
    return application.map { unescaped($0) }
  }

  /// The text of a part of a unit's name, in which `\xNN` stands for a byte (systemd.unit(5)).
  private static func unescaped(_ part: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = part.utf8[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "\\"), rest.dropFirst().first == UInt8(ascii: "x"), rest.count >= 4,
        let value = UInt8(String(decoding: rest.dropFirst(2).prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(4)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text without characters that could move the cursor, change the reading direction or act as markup. Nil if
  /// nothing is left.
  private static func plain(_ text: String, _ longest: Int) -> String? {
    var plain = ""
    for scalar in text.unicodeScalars where !isActive(scalar) { plain.unicodeScalars.append(scalar) }
    let words = plain.split(separator: " ").joined(separator: " ")
    guard !words.isEmpty else { return nil }
    // Counted in code points, since a character may have any number of combining marks.
    guard words.unicodeScalars.count > longest else { return words }
    return String(String.UnicodeScalarView(words.unicodeScalars.prefix(longest))) + "…"
  }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
    // With parentheses a command could pretend to have an application.
    default: "<>&\"'`\\()".unicodeScalars.contains(scalar) || scalar == "\u{FFFD}"
    }
  }

  private static func contents(of path: String) -> String? {
    kernelFile(path).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A file in which the kernel describes a process. Nil if there is none, or if it is empty.
private func kernelFile(_ path: String) -> [UInt8]? {
  (try? SmallFile.read(path, limit: 64 << 10)).flatMap { $0.isEmpty ? nil : $0 }
}
