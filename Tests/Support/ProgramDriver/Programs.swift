import Glibc

/// The built programs, which are in the folder of the test runner, or in the one that `WHORL_PROGRAMS` names.
package enum Programs {
  package static func path(_ name: String) throws -> String {
    if name.hasPrefix("/") { return name }
    if let folder = getenv("WHORL_PROGRAMS").map({ String(cString: $0) }), access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let runner = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    // Under `swift test` a program of the toolchain loads the test bundle and gets the bundle's path as an argument.
    let candidates = [runner] + CommandLine.arguments
    for candidate in candidates {
      guard let slash = candidate.lastIndex(of: "/") else { continue }
      let program = "\(candidate[..<slash])/\(name)"
      if access(program, X_OK) == 0 { return program }
    }
    throw ProgramMissing(name: name)
  }

  struct ProgramMissing: Error {
    var name: String
  }
}

/// Calls the body with a new folder, and removes that folder with all its contents afterwards.
package func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
  let folder = try temporaryFolder("whorl-test")
  defer { removeFolder(folder) }
  return try await body(folder)
}

/// Makes a new private folder.
package func temporaryFolder(_ name: String) throws -> String {
  var template = Array("/tmp/\(name)-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw SystemFailure("no folder \(name)") }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

package func removeFolder(_ path: String) {
  guard !path.isEmpty else { return }
  var information = stat()
  if lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
    for name in (try? folderEntries(path)) ?? [] { removeFolder("\(path)/\(name)") }
  }
  remove(path)
}

package func copyFolder(_ from: String, _ to: String) throws {
  guard mkdir(to, 0o700) == 0 else { throw SystemFailure(to) }
  for name in try folderEntries(from) {
    try writeFile("\(to)/\(name)", try readFile("\(from)/\(name)"))
  }
}

package func folderEntries(_ path: String) throws -> [String] {
  guard let stream = opendir(path) else { throw SystemFailure(path) }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}

package func readFile(_ path: String) throws -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw SystemFailure(path) }
  defer { close(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(file, &chunk, chunk.count)
    guard count > 0 else { return bytes }
    bytes += chunk[..<count]
  }
}

/// Writes a file that only this user can read.
package func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  guard file >= 0 else { throw SystemFailure(path) }
  defer { close(file) }
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    guard count > 0 else { throw SystemFailure(path) }
    rest = rest.dropFirst(count)
  }
}

package func mkdirPrivate(_ path: String) -> Bool { mkdir(path, 0o700) == 0 }

/// A failed system call that ends a test.
package struct SystemFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ what: String, _ code: Int32 = errno) {
    description = "\(what): \(String(cString: strerror(code)))"
  }
}
