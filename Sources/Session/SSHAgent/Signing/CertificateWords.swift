package import Keys

/// Describes a certificate to a person. Its names are what its authority has written.
package enum CertificateWords {
  /// The most characters shown of a name, and the most names.
  private static let (longest, most) = (64, 3)

  /// Such as "the certificate “laptop” for alice and bob, signed by SHA256:…".
  ///
  /// - Parameter time: in seconds since 1970.
  package static func text(of certificate: SSHCertificate, at time: UInt64) -> String {
    let name = shown(certificate.name)
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
    guard !certificate.principals.isEmpty else { return "every user" }
    let names = certificate.principals.prefix(most).map(shown)
    let rest = certificate.principals.count - names.count
    guard rest == 0 else { return "\(names.joined(separator: ", ")) and \(rest) more" }
    return names.joined(separator: " and ")
  }

  /// Text of others, shortened and without characters that could imitate a prompt or its quotes.
  private static func shown(_ text: String) -> String {
    let harmless = text.unicodeScalars.filter { !isOfPrompts($0) }
    let kept = String(String.UnicodeScalarView(harmless.prefix(longest)))
    return harmless.count > longest ? kept + "…" : kept
  }

  private static func isOfPrompts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned, .openPunctuation,
      .closePunctuation, .initialPunctuation, .finalPunctuation:
      true
    case .spaceSeparator: scalar != " "
    default: ["\"", "'", "`", "<", ">"].contains(scalar)
    }
  }
}
