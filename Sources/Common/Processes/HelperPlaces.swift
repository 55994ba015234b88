internal import CLinux
internal import Glibc

/// Where one of Whorl's helper programs is looked for. `PATH` and other environment variables are not used.
package struct HelperPlaces: Sendable, Hashable {
  /// The program that drives the readers.
  package static let reader = HelperPlaces(of: "whorl-reader")
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
