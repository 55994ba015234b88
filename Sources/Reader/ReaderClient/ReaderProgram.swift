package import Fingerprint
internal import Glibc
internal import Processes

/// Where `whorl-reader` is. Nothing is looked for through `PATH` or any other variable.
package enum ReaderProgram {
  /// The first of these that is a program: beside this process's own executable, in `libexec/whorl` of the place it is
  /// installed in, those the caller names, and where installs put it, for programs that are elsewhere.
  ///
  /// - Parameter configured: full paths, such as a configuration's.
  package static func locate(configured: [String] = []) -> String? {
    candidates(executable: executablePath(), configured: configured).first(where: isProgram)
  }

  /// Throws where the program may not be run: somebody else could have put it there. It is checked again, in the same
  /// way, when it is started.
  package static func check(_ path: String) throws(ReaderError) {
    do throws(HelperProgramError) {
      _ = try HelperProgram(at: path)
    } catch {
      throw .cannotStart(error.words)
    }
  }

  static func candidates(executable: String?, configured: [String]) -> [String] {
    let own = executable.flatMap(folder).map { ["\($0)/whorl-reader", "\($0)/../libexec/whorl/whorl-reader"] }
    return (own ?? []) + configured + installed
  }

  /// The prefix of `make install`, and that of packages: the system's own folders.
  package static let installed = ["/usr/local/libexec/whorl/whorl-reader", "/usr/libexec/whorl/whorl-reader"]

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
