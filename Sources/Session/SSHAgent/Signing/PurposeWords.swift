package import Keys
internal import Primitives
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
    guard !via.isEmpty else { return act(target) }
    let hosts = via.map(name).reduce(nil as String?) { hosts, host in
      hosts.map { Text.of("{hosts} and {host}", ["hosts": $0, "host": host]) } ?? host
    }
    return Text.of("{act}, via {hosts}", ["act": act(target), "hosts": hosts ?? ""])
  }

  private func act(_ target: SignaturePurpose.Target) -> String {
    switch target {
    case .signIn(let user, let host):
      Text.of("sign in to {host} as {user}", ["host": name(host), "user": PromptLabel.word(user)])
    case .file("git"): Text.of("sign for git")
    case .file("file"): Text.of("sign a file")
    case .file(let namespace):
      Text.of("sign a file for {namespace}", ["namespace": PromptLabel.word(namespace)])
    case .unknown: Text.of("sign data of an unknown kind")
    }
  }

  /// The host's name, or if it is unknown, the fingerprint of its key as `ssh` shows it.
  private func name(_ key: [UInt8]?) -> String {
    guard let key else { return Text.of("an unknown host") }
    if let name = hosts.name(ofHostWith: key, candidates: candidates) { return PromptLabel.text(name) }
    return Text.of("an unknown host") + (HostKey(key).map { " (\($0.fingerprint))" } ?? "")
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
    let authority = (try? certificate.authority.ssh).flatMap { HostKey($0) }?.fingerprint
    let places = [
      "name": name, "users": users(certificate), "authority": authority ?? Text.of("an unknown authority"),
    ]
    let words =
      name.isEmpty
      ? Text.of("the certificate for {users}, signed by {authority}", places)
      : Text.of("the certificate “{name}” for {users}, signed by {authority}", places)
    return switch certificate.validity(at: time) {
    case .before: Text.of("{certificate}, which is not valid yet", ["certificate": words])
    case .within: words
    case .after: Text.of("{certificate}, which has expired", ["certificate": words])
    }
  }

  private static func users(_ certificate: SSHCertificate) -> String {
    guard !certificate.principals.isEmpty else { return Text.of("no named user") }
    // In quotation marks, so that no name can look like the rest of the prompt.
    let names = PromptLabel.names(Array(certificate.principals.prefix(most)), unnamed: Text.of("a user without a name"))
    let rest = certificate.principals.count - most
    return rest > 0
      ? Text.plural("{names} and {count} more", "{names} and {count} more", rest, ["names": names]) : names
  }
}
