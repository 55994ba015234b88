internal import Glibc
internal import Primitives

/// The names of hosts by their keys, from the files in which `ssh` remembers them (sshd(8), SSH_KNOWN_HOSTS FILE
/// FORMAT).
package struct KnownHosts: Sendable {
  /// The longest file that is read, in bytes.
  private static let limit = 4 << 20

  private let files: [String]
  private let configurations: [String]

  /// - Parameters:
  ///   - files: may be missing.
  ///   - configurations: files of `ssh_config`, whose names of hosts are candidates. They may be missing, too.
  package init(files: [String], configurations: [String] = []) {
    (self.files, self.configurations) = (files, configurations)
  }

  /// The files that `ssh` uses unless its configuration names others.
  ///
  /// - Parameters:
  ///   - home: the user's home directory; nil if it is not known.
  ///   - files: files of known hosts instead of the usual ones; if empty, the usual ones.
  package init(home: String?, files: [String]) {
    let folders = (home.map { ["\($0)/.ssh/"] } ?? []) + ["/etc/ssh/ssh_"]
    let usual = folders.flatMap { ["\($0)known_hosts", "\($0)known_hosts2"] }
    self.init(files: files.isEmpty ? usual : files, configurations: folders.map { "\($0)config" })
  }

  /// The name of the host with this key; nil if no file names it, or one revokes its key. A host with a certificate
  /// has the names that the certificate and the line of its authority agree on, if the certificate is valid now, and
  /// those of lines with its own key.
  ///
  /// A hashed name cannot be read, only compared, so the candidates are tried.
  ///
  /// - Parameters:
  ///   - key: in SSH's form, or in a certificate.
  ///   - candidates: the names to try and to prefer, such as those on the command line of `ssh`.
  package func name(ofHostWith key: [UInt8], candidates: [String]) -> String? {
    guard let host = HostKey(key), let lines, !lines.contains(where: { $0.revokes(host) }) else { return nil }
    var first: String?
    for names in lines.compactMap({ $0.names(of: host) }) {
      if let named = candidates.first(where: names.contains) { return named }
      first = first ?? names.first
    }
    return first
  }

  /// The lines of all files; nil if a file is too long to be read, since it could revoke a key.
  private var lines: [KnownHostsLine]? {
    var lines: [KnownHostsLine] = []
    for file in files {
      guard let bytes = try? SmallFile.read(file, limit: Self.limit) else {
        if Self.isReadable(file) { return nil }
        continue
      }
      for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
        if let line = KnownHostsLine(String(decoding: line, as: UTF8.self)[...]) { lines.append(line) }
      }
    }
    return lines
  }

  /// Whether it is a file that this user may read.
  private static func isReadable(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG && access(path, R_OK) == 0
  }

  /// The names that the host of a client may have in these files, from its arguments and the configurations of `ssh`.
  package func candidates(in arguments: [String]) -> [String] {
    HostCandidates(ClientArguments(arguments), configurations.map(ClientConfiguration.init)).names
  }
}
