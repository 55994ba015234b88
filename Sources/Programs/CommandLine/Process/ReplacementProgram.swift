import Glibc
import Processes
import SecretModel
import SecureMemory

/// A program that replaces this process (`execve`), so that no process with the secrets stays behind.
struct ReplacementProgram {
  private let path: String
  private let arguments: [String]

  /// Finds the program like a shell, before the person is asked for anything.
  init(_ command: [String]) throws(Failure) {
    arguments = command
    let name = command[0]
    guard !name.isEmpty else { throw Self.notFound("''") }
    guard !name.contains("/") else {
      if let problem = Self.problem(with: name) { throw problem }
      path = name
      return
    }
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    var found: Failure?
    for directory in search.split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = "\(directory.isEmpty ? "." : directory)/\(name)"
      guard let problem = Self.problem(with: candidate) else {
        path = candidate
        return
      }
      if problem.status == .cannotExecute { found = problem }
    }
    throw found ?? Self.notFound(name)
  }

  private static func problem(with path: String) -> Failure? {
    var information = stat()
    guard stat(path, &information) == 0 else { return notFound(path) }
    guard information.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
      return Failure(.cannotExecute, "\(path): cannot be executed", advice: "name a program")
    }
    return nil
  }

  private static func notFound(_ name: String) -> Failure {
    Failure(.commandNotFound, "\(name): command not found", advice: "look at its name and at PATH")
  }

  /// Executes the program with the secrets in its environment. Returns only if that fails.
  func run(with secrets: [(variable: String, item: ReleasedItem)], _ hardening: Hardening, closing: [Int32]) -> Failure
  {
    // The program must not read the descriptors with passcodes.
    for descriptor in closing where descriptor > STDERR_FILENO { close(descriptor) }
    // "NAME=", the secret and a NUL, in memory that is wiped if the exec fails.
    let entries = secrets.map { variable, item in
      var entry = SecretBytes(count: variable.utf8.count + 1 + item.secret.count + 1)
      entry.withUnsafeMutableBytes { target in
        target.copyBytes(from: Array("\(variable)=".utf8))
        item.secret.withUnsafeBytes {
          UnsafeMutableRawBufferPointer(rebasing: target[(variable.utf8.count + 1)...]).copyMemory(from: $0)
        }
      }
      return SharedSecret(entry)
    }
    let replaced = secrets.map { Array("\($0.variable)=".utf8) }
    // `environ` and its strings belong to the C library; they are lent to execve for the call.
    var environment: [UnsafeMutablePointer<CChar>?] = []
    var next = environ
    while let entry = next.pointee {
      let isReplaced = replaced.contains { prefix in
        prefix.enumerated().allSatisfy { UInt8(bitPattern: entry[$0.offset]) == $0.element }
      }
      if !isReplaced { environment.append(entry) }
      next += 1
    }
    for entry in entries {
      // The pointer stays valid after this call, as long as `entries` exists.
      environment.append(
        entry.bytes.withUnsafeBytes {
          UnsafeMutableRawPointer(mutating: $0.baseAddress)?.assumingMemoryBound(to: CChar.self)
        })
    }
    environment.append(nil)
    // strdup's copies are owned here and end with the exec, or with the process soon after.
    let argv = arguments.map { strdup($0) } + [nil]
    let script = [strdup("/bin/sh"), strdup(path)] + argv.dropFirst()
    hardening.undo()
    Interruption.undo()
    withExtendedLifetime(entries) {
      _ = execve(path, argv, environment)
      // Run a script without `#!` with the shell, as shells do.
      if errno == ENOEXEC { _ = execve("/bin/sh", script, environment) }
    }
    let code = errno
    return Failure(
      .cannotExecute, "\(path): \(String(cString: strerror(code)))",
      advice: code == E2BIG
        ? "read what is too long for an environment with 'whorl get'" : "see whether it starts without 'whorl run'")
  }
}
