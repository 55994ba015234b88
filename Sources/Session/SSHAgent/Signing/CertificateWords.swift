package import Keys
internal import PromptTexts

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
