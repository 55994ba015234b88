internal import CLinux
internal import Glibc

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
