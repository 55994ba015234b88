package import Keys
internal import Prompts

/// Describes the purpose of a signature to a person.
package struct PurposeWords: Sendable {
  private let hosts: KnownHosts
  /// Names of hosts to try where the names in `known_hosts` are hashed.
  private let candidates: [String]

  package init(_ hosts: KnownHosts, candidates: [String]) { (self.hosts, self.candidates) = (hosts, candidates) }

  /// Such as "sign in to example.com as alice, via example.org", to follow "Touch the reader to".
  /// - Parameter via: the hosts through which the agent was forwarded, as in `SignaturePurpose`.
  package func text(of target: SignaturePurpose.Target, via: [[UInt8]?]) -> String {
    let way = via.isEmpty ? "" : ", via \(via.map(name).joined(separator: " and "))"
    return act(target) + way
  }

  private func act(_ target: SignaturePurpose.Target) -> String {
    switch target {
    case .signIn(let user, let host): "sign in to \(name(host)) as \(PromptLabel.word(user))"
    case .file("git"): "sign for git"
    case .file("file"): "sign a file"
    case .file(let namespace): "sign a file for \(PromptLabel.word(namespace))"
    case .unknown: "sign data of an unknown kind"
    }
  }

  /// The host's name, or if it is unknown, the fingerprint of its key as `ssh` shows it.
  private func name(_ key: [UInt8]?) -> String {
    guard let key else { return "an unknown host" }
    if let name = hosts.name(ofHostWith: key, candidates: candidates) { return PromptLabel.text(name) }
    return "an unknown host" + (HostKey(key).map { " (\($0.fingerprint))" } ?? "")
  }
}

/// Describes a certificate to a person. Its names are what its authority has written.
package enum CertificateWords {
  /// The most names of users that are shown.
  private static let most = 3

  /// Such as "the certificate “laptop” for “alice”, “bob”, signed by SHA256:…".
  ///
  /// - Parameter time: in seconds since 1970.
  package static func text(of certificate: SSHCertificate, at time: UInt64) -> String {
    let name = PromptLabel.text(certificate.name)
    var words = "the certificate" + (name.isEmpty ? "" : " “\(name)”") + " for \(users(certificate))"
    let authority = (try? certificate.authority.ssh).flatMap { HostKey($0) }?.fingerprint
    words += ", signed by \(authority ?? "an unknown authority")"
    return switch certificate.validity(at: time) {
    case .before: words + ", which is not valid yet"
    case .within: words
    case .after: words + ", which has expired"
    }
  }

  private static func users(_ certificate: SSHCertificate) -> String {
    guard !certificate.principals.isEmpty else { return "no named user" }
    // In quotation marks, so that no name can look like the rest of the prompt.
    let names = PromptLabel.names(Array(certificate.principals.prefix(most)), unnamed: "a user without a name")
    let rest = certificate.principals.count - most
    return rest > 0 ? "\(names) and \(rest) more" : names
  }
}
