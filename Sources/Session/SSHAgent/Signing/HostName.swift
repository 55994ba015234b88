internal import FoundationEssentials
internal import Keys
internal import Primitives

/// The name of a host as `known_hosts` has it: `host.test`, or `[host.test]:2222` for another port than 22.
struct HostName {
  let host: String
  /// Nil without one.
  let port: String?

  init(_ text: String) {
    guard text.hasPrefix("["), let end = text.lastIndex(of: "]"), text[end...].hasPrefix("]:"),
      Self.isPort(text[end...].dropFirst(2))
    else {
      (host, port) = (text, nil)
      return
    }
    host = String(text[..<end].dropFirst())
    port = String(text[end...].dropFirst(2))
  }

  /// The name of a host at a port.
  static func text(_ host: String, port: String) -> String { "[\(host)]:\(port)" }

  static func isPort(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && (UInt16(text) ?? 0) > 0
  }

  /// Whether a name in a certificate can be shown as a host name: it has only letters, digits and `.-_:%`, so it is not
  /// a pattern and cannot imitate a prompt.
  static func isPlain(_ principal: String) -> Bool {
    !principal.isEmpty
      && principal.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: ".-_:%".utf8.contains(byte)
        }
      }
  }
}

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
