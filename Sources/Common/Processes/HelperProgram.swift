// Helper programs and units: where they are looked for, and whether only root or this user could have put them there.

internal import CLinux
internal import Glibc
internal import SDBus

/// A program that this process may start as its helper: only root or the effective user could have put it, and every
/// folder and symbolic link on its path, in place.
///
/// It keeps the program open. Execute ``executionPath``, not ``path``, so that the checked program runs, even if
/// another one has been put at the path since.
package final class HelperProgram: Sendable {
  /// The path it was found at, for people and for the program's own `argv[0]`.
  package let path: String
  /// The open program (`O_PATH`), marked close-on-exec and never below 3.
  package let descriptor: Int32

  /// The path to execute. The descriptor must be open in the child until then, and is closed on execution.
  package var executionPath: String { "/proc/self/fd/\(descriptor)" }

  /// Follows the path step by step from the root, and checks each step.
  ///
  /// - Parameter path: a full path.
  package init(at path: String) throws(HelperProgramError) {
    let entry: PathWalk.Entry
    do throws(PathWalkError) {
      entry = try PathWalk.end(of: path)
    } catch {
      switch error {
      case .missing(let code): throw .missing(path: path, code: code)
      case .untrusted(let component, let problem):
        throw .untrusted(path: path, component: component, problem: problem)
      }
    }
    guard entry.kind == S_IFREG else { throw .missing(path: path, code: EACCES) }
    // fcntl: the copy is ours to close
    let copy = fcntl(entry.descriptor.rawValue, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .missing(path: path, code: errno) }
    guard access("/proc/self/fd/\(copy)", X_OK) == 0 else {
      let code = errno
      close(copy)
      throw .missing(path: path, code: code)
    }
    descriptor = copy
    self.path = path
  }

  deinit { close(descriptor) }

  /// None of the places has a program that may be run.
  package struct NotFound: Error {
    /// Why the last one that is there may not be run; else what the caller has said.
    package let problem: String
  }

  /// The first one at these full paths.
  ///
  /// - Parameter missing: the problem if there is none at any of them.
  package static func first(
    at paths: some Sequence<String>, missing: String
  ) throws(NotFound) -> HelperProgram {
    var problem = missing
    for path in paths {
      do throws(HelperProgramError) {
        return try HelperProgram(at: path)
      } catch .missing {
        continue
      } catch {
        problem = error.words
      }
    }
    throw NotFound(problem: problem)
  }

  /// The first one of this name in the folders of `PATH`.
  ///
  /// - Parameter environment: as `NAME=value`.
  package static func first(named name: String, in environment: [String]) throws(NotFound) -> HelperProgram {
    let folders = environment.first { $0.hasPrefix("PATH=") }?.dropFirst(5) ?? "/usr/local/bin:/usr/bin:/bin"
    return try first(
      at: folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" },
      missing: "\(name) is not installed")
  }
}

/// Why a program cannot be started as a helper.
package enum HelperProgramError: Error, Sendable, Hashable {
  /// It is missing or cannot be executed; the code is an errno.
  case missing(path: String, code: Int32)
  /// Another user could have put it there.
  ///
  /// - Parameters:
  ///   - component: the file, folder or symbolic link that another user controls.
  case untrusted(path: String, component: String, problem: PathWalkError.Problem)

  /// One line for people: what, why, what to do.
  package var words: String {
    switch self {
    case .missing(let path, let code): "\(path): \(String(cString: strerror(code)))"
    case .untrusted(let path, let component, .owner(let user)):
      "\(path) is not run, because user \(user) owns \(component) and could replace the program; "
        + "remove it, or give it to root or to yourself with chown"
    case .untrusted(let path, let component, .writableByAnybody):
      "\(path) is not run, because anybody can write to \(component) and replace the program; "
        + "'chmod o-w \(component)' ends that"
    case .untrusted(let path, let component, .writableByGroup(let group)):
      "\(path) is not run, because group \(group) can write to \(component) and replace the program; "
        + "'chmod g-w \(component)' ends that"
    }
  }
}

/// Where one of Whorl's helper programs is looked for. `PATH` and other environment variables are not used.
package struct HelperPlaces: Sendable, Hashable {
  /// The program that drives the readers.
  package static let reader = HelperPlaces(of: "whorl-reader")
  /// The program that changes the PAM files of sudo, polkit and lock screens.
  package static let fingerLogin = HelperPlaces(of: "finger-login")
  /// The program that holds the keys.
  package static let vault = HelperPlaces(of: "whorld")

  /// The file name of the program.
  package let name: String

  package init(of name: String) { self.name = name }

  /// The first program found: beside this process's executable, in `libexec/whorl` of its prefix, at the configured
  /// path, or in ``installed``. Nil if there is none.
  ///
  /// - Parameter configured: a full path, such as the configuration's.
  package func locate(configured: String? = nil) -> String? {
    candidates(executable: Self.executablePath(), configured: configured).first(where: Self.isProgram)
  }

  /// The path of the program if it is installed with this process's executable, whatever the configuration says. Nil if
  /// it is not.
  package func locateWithExecutable() -> String? { beside(Self.executablePath()).first(where: Self.isProgram) }

  func candidates(executable: String?, configured: String?) -> [String] {
    beside(executable) + (configured.map { [$0] } ?? []) + installed
  }

  private func beside(_ executable: String?) -> [String] {
    executable.flatMap(Self.folder).map { ["\($0)/\(name)", "\($0)/../libexec/whorl/\(name)"] } ?? []
  }

  /// The prefix of `make install`, and the prefix of packages.
  package var installed: [String] { ["/usr/local/libexec/whorl/\(name)", "/usr/libexec/whorl/\(name)"] }

  private static func executablePath() -> String? {
    let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      // readlink: writes no terminator
      count = buffer.baseAddress.map { max(0, readlink("/proc/self/exe", $0, buffer.count)) } ?? 0
    }
    return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
  }

  private static func folder(of path: String) -> String? {
    path.lastIndex(of: "/").map { String(path[..<$0]) }
  }

  private static func isProgram(_ path: String) -> Bool {
    var status = stat()
    return path.hasPrefix("/") && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && access(path, X_OK) == 0
  }
}

/// The socket of a system unit, and its required owner.
package struct UnitPath: Sendable {
  package let path: String
  /// The user that must have made the socket. systemd makes those of system units. The kernel reports only who began to
  /// listen, not who answers, so the folder must be one where nobody else can make a socket.
  private let maker: UInt32

  /// - Parameters:
  ///   - path: a full path.
  ///   - maker: root, for system units; tests make their own sockets.
  package init(_ path: String, madeBy maker: UInt32 = 0) {
    self.path = path
    self.maker = maker
  }

  private var folder: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// Connects to the unit, which systemd starts. The caller owns the socket.
  package func connect() throws(UnitPathError) -> Int32 {
    do throws(PathWalkError) {
      // Check the folder only: users may write to the socket itself.
      try PathWalk.check(folder, trusting: maker == 0 ? .rootAlone : .rootAndEffectiveUser)
    } catch {
      throw UnitPathError(words: "\(path): others could have put a socket there")
    }
    do throws(BusError) {
      let socket = try BusDescriptor.connected(toBus: BusAddress.of(socketAt: path))
      guard try BusPeer(of: socket.rawValue).userID == maker else {
        throw .system(EPERM)
      }
      // This object closes its own descriptor.
      let copy = fcntl(socket.rawValue, F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { throw .system(errno) }
      return copy
    } catch {
      let reason = if case .system(let code) = error { String(cString: strerror(code)) } else { "nobody listens" }
      throw UnitPathError(words: "\(path): \(reason)")
    }
  }
}

/// Why a unit cannot be reached.
package struct UnitPathError: Error, Sendable, Hashable {
  /// The message for people.
  package let words: String
}
