internal import FoundationEssentials
internal import Keys
internal import Primitives

/// A host's key as it comes in a session: the key itself, or a certificate of it.
struct HostKey {
  enum Form {
    case plain
    /// With a certificate for hosts that is valid now.
    ///
    /// - Parameters:
    ///   - authority: the key that has signed it, in base 64.
    ///   - principals: its plain names.
    case certified(authority: String, principals: [String])
    /// With a certificate that cannot be read, that its authority has not signed, or that is not valid for a host now.
    case unchecked
  }

  /// The key itself in base 64, also where it came in a certificate.
  let key: String
  let form: Form
  /// The key's fingerprint as `ssh` shows it.
  let fingerprint: String

  /// Nil for anything but a supported key.
  init?(_ bytes: [UInt8]) {
    guard let plain = try? PublicKey(ssh: bytes).ssh else { return nil }
    key = Data(plain).base64EncodedString()
    fingerprint = "SHA256:\(Data(Digest.sha256(plain)).base64EncodedString().prefix { $0 != "=" })"
    form = plain == bytes ? .plain : Self.form(ofCertificate: bytes)
  }

  private static func form(ofCertificate bytes: [UInt8]) -> Form {
    guard let certificate = try? SSHCertificate(bytes), let authority = try? certificate.authority.ssh,
      certificate.isForHost(at: SystemClock.calendar.nanoseconds / 1_000_000_000)
    else { return .unchecked }
    return .certified(
      authority: Data(authority).base64EncodedString(), principals: certificate.principals.filter(HostName.isPlain))
  }
}
