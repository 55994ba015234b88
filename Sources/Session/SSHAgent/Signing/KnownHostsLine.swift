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
