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

/// A line of a file of known hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
struct KnownHostsLine {
  private enum Meaning {
    /// The key is that of the hosts.
    case key
    /// The key signs the certificates of the hosts.
    case authority
    /// The key must not be accepted.
    case revoked
  }

  private let meaning: Meaning
  private let hosts: Substring
  /// In base 64.
  private let key: Substring

  /// Nil for comments and other lines.
  init?(_ text: Substring) {
    var fields = text.split { $0 == " " || $0 == "\t" }
    switch fields.first {
    case "@cert-authority"?: meaning = .authority
    case "@revoked"?: meaning = .revoked
    default: meaning = .key
    }
    if meaning != .key { fields.removeFirst() }
    guard fields.count >= 3, !fields[0].hasPrefix("@"), !fields[0].hasPrefix("#") else { return nil }
    (hosts, key) = (fields[0], fields[2])
  }

  /// Whether it revokes the host's key or the authority of its certificate. Unlike in `ssh`, the line's host names do
  /// not matter, since the host's name is not known yet.
  func revokes(_ host: HostKey) -> Bool {
    guard meaning == .revoked else { return false }
    if case .certified(let authority, _) = host.form, key == authority { return true }
    return key == host.key
  }

  /// The names that it gives the host; nil for a line with another key.
  func names(of host: HostKey) -> Names? {
    let principals: [String]?
    switch (meaning, host.form) {
    case (.key, .plain) where key == host.key, (.key, .certified) where key == host.key: principals = nil
    case (.authority, .certified(let authority, let certified)) where key == authority: principals = certified
    default: return nil
    }
    return Names(hosts: HostPatterns(hosts.split(separator: ",")), principals: principals)
  }

  /// The names that a line gives a host.
  struct Names {
    fileprivate let hosts: HostPatterns
    /// The names in the host's certificate; nil for a line with the host's own key.
    fileprivate let principals: [String]?

    /// Whether a name is one of them. For a certificate it is also one of the certificate's, at any port that the line
    /// allows.
    func contains(_ name: String) -> Bool {
      guard let principals else { return hosts.contains(name) }
      let host = HostName(name).host.lowercased()
      return hosts.matches(name) && principals.contains { $0.lowercased() == host }
    }

    /// The first one that can be read.
    var first: String? {
      guard let principals else { return hosts.names.first }
      let ports = hosts.ports
      return principals.lazy.flatMap { name in [name] + ports.map { HostName.text(name, port: $0) } }
        .first(where: hosts.matches)
    }
  }
}
