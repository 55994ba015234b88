internal import PromptTexts

/// Describes the purpose of a signature to a person.
package struct PurposeWords: Sendable {
  private let hosts: KnownHosts
  /// Names of hosts to try where the names in `known_hosts` are hashed.
  private let candidates: [String]

  package init(_ hosts: KnownHosts, candidates: [String]) { (self.hosts, self.candidates) = (hosts, candidates) }

  /// Such as "sign in to example.com as alice, via example.org", to follow "Touch the reader to".
  package func text(of target: SignaturePurpose.Target) -> String {
    switch target {
    case .signIn(let user, let host, let via):
      let place = host.map(name) ?? "an unknown host"
      let way = via.isEmpty ? "" : ", via \(via.map(name).joined(separator: " and "))"
      return "sign in to \(place) as \(PromptLabel.word(user))\(way)"
    case .file("git"): return "sign for git"
    case .file("file"): return "sign a file"
    case .file(let namespace): return "sign a file for \(PromptLabel.word(namespace))"
    case .unknown: return "sign data of an unknown kind"
    }
  }

  /// The host's name, or if it is unknown, the fingerprint of its key as `ssh` shows it.
  private func name(_ key: [UInt8]) -> String {
    if let name = hosts.name(ofHostWith: key, candidates: candidates) { return PromptLabel.text(name) }
    return "an unknown host" + (HostKey(key).map { " (\($0.fingerprint))" } ?? "")
  }
}
